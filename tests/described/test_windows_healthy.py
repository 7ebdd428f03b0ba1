"""A Windows host with nothing wrong: what is named above a note there is a false alarm."""

import pytest

from described.windows import Windows, guid, machine
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Severity
from wirespeed.model.question import Purpose, Question


def server() -> Windows:
    """A server of two sockets: two cards with RDMA, a switch with SR-IOV on one, a guest on it."""
    windows = Windows()
    machine(windows, processors=32, nodes=2)
    windows.card(10, "RDMA 1", node=0, processors=(2, 15))
    windows.card(11, "RDMA 2", node=1, processors=(16, 31))
    for number in (10, 11):
        windows.add("rdma", Guid=guid(number), Enabled=True, Technology="RoCEv2")
        windows.add("qos", Guid=guid(number), Enabled=True, FlowControl="Priority 3 Enabled")
        windows.add("sriov", Guid=guid(number), Enabled=True, Support="Supported", Vfs=16)
        for end in ("smb-client-interfaces", "smb-server-interfaces"):
            windows.add(end, Index=number, Rdma=True)
        # As Get-SmbMultichannelConnection's own page has it: one path by RDMA, the other unused.
        for by_rdma in (True, False):
            windows.add("smb-connections", Server="files", ServerAddress=f"192.168.{number}.9",
                        Instance="Default", ClientIndex=number, Selected=by_rdma,
                        ClientRss=not by_rdma, ServerRss=not by_rdma,
                        ClientRdma=by_rdma, ServerRdma=by_rdma, ClientBps=10**11,
                        ServerBps=10**11, Channels=2 if by_rdma else 0, Failed=False,
                        FailureCount=0)  # fmt: skip
        windows.bind(number, "ms_pacer", "QoS Packet Scheduler")
        windows.bind(number, "vms_pp", "Hyper-V Extensible Virtual Switch")
    windows.rows["qos-flow-control"] = [{"Priority": n, "Enabled": n == 3} for n in range(8)]
    windows.add("qos-policies", NetDirectPort=445, Priority=3)
    windows.switch(1, "Default Switch")
    windows.switch(3, "Guests", 11, iov=True)
    windows.add("vm-adapters", VMName="web", SwitchId=guid(3), SwitchName="Guests",
                Mac="00155D000001", IovWeight=100, VmqWeight=100, Status=["Ok"],
                IsManagementOs=False)  # fmt: skip
    return windows


@pytest.mark.parametrize("purpose", [None, *Purpose])
def test_nothing_is_named_above_a_note(purpose: Purpose | None):
    facts = HostFacts("server", parse_capture(server().capture(), "server"))
    diagnosis = diagnose(facts, Question(purpose=purpose))
    assert not diagnosis.faults
    named = [f.rule for f in diagnosis.findings if f.severity is not Severity.NOTE]
    assert named == []
    told = {v.rule for v in diagnosis.verdicts if v.outcome == "cannot tell"}
    assert told == set()
