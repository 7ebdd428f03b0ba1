"""A low figure on Windows: what explains it, and what cannot."""

from typing import Any

import pytest

from described.windows import Windows, guid, machine
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis
from wirespeed.model.question import MeasuredBy, Question

FIGURE_BPS = 12e9


def rdma_off() -> Windows:
    """A card of 100 Gb/s whose RDMA is switched off, with a connection of SMB to a server that
    has it."""
    windows = Windows()
    machine(windows)
    windows.card(10, "Storage 1")
    windows.add("rdma", Guid=guid(10), Enabled=False, Technology="RoCEv2")
    for end in ("smb-client-interfaces", "smb-server-interfaces"):
        windows.add(end, Index=10, Rdma=False)
    windows.add("smb-connections", Server="s2d-2", ServerAddress="10.0.0.2", Instance="CSV",
                ClientIndex=10, Selected=True, ClientRss=True, ServerRss=True, ClientRdma=False,
                ServerRdma=True, ClientBps=10**11, ServerBps=10**11, Channels=4, Failed=False,
                FailureCount=0)  # fmt: skip
    return windows


def asked(windows: Windows, **question: Any) -> Diagnosis:
    facts = HostFacts("server", parse_capture(windows.capture(), "server"))
    return diagnose(facts, Question(**question))


@pytest.mark.parametrize("is_of_iperf", [False, True])
def test_smb_by_tcp_explains_a_copy_and_no_run_of_iperf3(is_of_iperf: bool):
    run = MeasuredBy(tool="iperf 3.17", measured_bps=FIGURE_BPS, streams=8)
    answer = asked(rdma_off(), measured_bps=FIGURE_BPS, measured_by=run if is_of_iperf else None)
    (smb,) = [c for c in answer.causes if c.says.startswith("SMB uses TCP")]
    effects = [answer.findings[number].rule for number in smb.effects]
    assert effects == ([] if is_of_iperf else ["measured.far_below_ceiling"])
