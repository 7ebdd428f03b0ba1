"""What Open vSwitch's offload stands on, on a real kernel: eswitch modes, ports, representors.

The card is the kernel's simulated one (`netdevsim.py`): devlink, sysfs and udev are real.
"""

import os
from collections.abc import Iterator, Sequence

import pytest
from netdevsim import DEVICE, NETDEV, PF, add_card

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.executor import Executor
from wirespeed.apply.planner import make_plan
from wirespeed.doctor.collector import collector_script
from wirespeed.doctor.host_state import differences, values_of
from wirespeed.facts.eswitch import Eswitch
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ports import Ports
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import ApplyError
from wirespeed.model.fact import HostFacts
from wirespeed.model.journal import Entry
from wirespeed.model.observed import Known, Observed, Unreadable, known
from wirespeed.model.plan import Plan
from wirespeed.model.step import State, Step
from wirespeed.steps.eswitch_mode import EswitchMode
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.representor_name import RepresentorName

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
SWITCHDEV = EswitchMode(pci_address=PF, mode="switchdev", netdev=NETDEV)
NAMED = RepresentorName(pci_address=PF, vf=1, netdev="gpu-1-n0")
KERNELS = "eni9npf0vf1"
"""What udev calls the representor of VF 1."""


@pytest.fixture(scope="module")
def host() -> Iterator[Machine]:
    alone = LabSpec(hosts=(MachineSpec(name="alpha"),), wiring="switch")
    with Machines(alone, name=f"test-{os.getpid()}-nsim") as lab:
        add_card(lab.hosts["alpha"], vfs=2)
        yield lab.hosts["alpha"]


def sh(host: Machine, script: str) -> str:
    done = host.run(["sh", "-ec", script])
    assert done.returncode == 0, f"{script}\n{done.output}\n{done.errors}"
    return done.output.strip()


def facts_of(host: Machine) -> HostFacts:
    """By the whole collector, which takes PCI functions alone for cards: it is told of this one."""
    mark = "\nset -f\n"
    script = collector_script().replace(mark, f'\npfs="$pfs {PF}"{mark}', 1)
    done = host.run(["sh"], stdin=script, timeout_s=180, max_bytes=1 << 24)
    capture = parse_capture(done.output, "alpha")
    assert capture.complete
    return HostFacts("alpha", capture)


class Run:
    """Steps on the host, with their journal."""

    def __init__(self, host: Machine, steps: Sequence[tuple[Step, bool]]) -> None:
        """`steps`: each, and whether an earlier one makes what it is about."""
        self.control = PosixControl("alpha", host)
        self.steps = [step for step, _ in steps]
        self.journal: list[Entry] = []
        states = self.control.read(self.steps)
        self.plan = self._planned(
            None if is_made and isinstance(state, Unreadable) else state
            for (_, is_made), state in zip(steps, states, strict=True)
        )

    def _planned(self, states: Iterator[Observed[State] | None]) -> Plan:
        return make_plan([("alpha", s, state) for s, state in zip(self.steps, states, strict=True)])

    def apply(self) -> None:
        self._executor(self.plan).apply()

    def undo(self) -> None:
        self._executor(self.plan).undo()

    def again(self) -> Plan:
        """Plan it afresh."""
        return self._planned(iter(self.control.read(self.steps)))

    def _executor(self, plan: Plan) -> Executor:
        return Executor(
            plan, {"alpha": self.control}, self.journal.append, lambda: "now", tuple(self.journal)
        )


def netdevs(host: Machine) -> set[str]:
    return set(sh(host, "ls /sys/class/net").split())


def test_ovs_switchdev_and_back_leaves_the_host_as_found(host: Machine):
    found, named_before = facts_of(host), netdevs(host)
    assert known(found[Eswitch].pfs[PF].mode, "mode") == "legacy"
    # Representors are not there when this is planned; their names come by the kernel's ports.
    made = [(s, True) for s in (NAMED, Mtu(netdev="gpu-1-n0", mtu=9000), LinkUp(netdev="gpu-1-n0"))]
    run = Run(host, [(SWITCHDEV, False), *made])
    assert run.plan.steps[0].before == {"mode": "legacy"}
    assert run.plan.steps[1].before is None
    run.apply()
    assert "switchdev" in sh(host, f"devlink dev eswitch show pci/{PF}")
    assert netdevs(host) - named_before == {"eni9npf0vf0", "gpu-1-n0"}
    # The kernel's word for the port of the netdev that has the name now.
    ports = sh(host, "devlink port show").splitlines()
    (port,) = (line for line in ports if " netdev gpu-1-n0 " in line)
    assert " flavour pcivf " in port and " vfnum 1 " in port
    assert sh(host, "cat /sys/class/net/gpu-1-n0/mtu") == "9000"
    assert all(step.no_op for step in run.again().steps)
    run.undo()
    assert "legacy" in sh(host, f"devlink dev eswitch show pci/{PF}")
    assert netdevs(host) == named_before
    assert not differences("alpha", values_of(found), values_of(facts_of(host)))


def test_ovs_representor_that_is_there_and_up_has_its_former_name_back(host: Machine):
    mode = Run(host, [(SWITCHDEV, False)])
    mode.apply()
    try:
        sh(host, f"ip link set dev {KERNELS} up")
        run = Run(host, [(NAMED, False)])
        assert run.plan.steps[0].before == {"netdev": KERNELS}
        run.apply()
        assert {"gpu-1-n0", "eni9npf0vf0"} < netdevs(host)
        run.undo()
        assert {KERNELS, "eni9npf0vf0"} < netdevs(host)
    finally:
        mode.undo()


def test_ovs_facts_tell_the_mode_the_port_and_its_representors(host: Machine):
    mode = Run(host, [(SWITCHDEV, False)])
    mode.apply()
    try:
        switchdev = facts_of(host)
    finally:
        mode.undo()
    assert known(switchdev[Eswitch].pfs[PF].mode, "mode") == "switchdev"
    # No card of the lab has an eswitch: that is absent, and no mode.
    others = [pf for address, pf in switchdev[Eswitch].pfs.items() if address != PF]
    assert others and not any(isinstance(pf.mode, Known) for pf in others)
    links = known(switchdev[NetStack].links, "links")
    representors = {name for name, link in links.items() if link.is_vf_representor}
    assert representors == {"eni9npf0vf0", KERNELS}
    switch_ids = {known(links[name].switch_id, name) for name in (*representors, NETDEV)}
    assert len(switch_ids) == 1
    assert set(switchdev[Ports].representors) == representors


def test_ovs_representor_of_a_vf_that_is_not_there_is_a_verdict_and_all_is_put_back(
    host: Machine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(RepresentorName, "settle_s", 1)
    never = RepresentorName(pci_address=PF, vf=7, netdev="gpu-9-n0")
    run = Run(host, [(SWITCHDEV, False), (never, True)])
    before = netdevs(host)
    with pytest.raises(ApplyError) as caught:
        run.apply()
    assert "VF 7" in str(caught.value) or "VF 7" in caught.value.found, caught.value
    assert netdevs(host) == before
    assert "legacy" in sh(host, f"devlink dev eswitch show pci/{PF}")


def test_ovs_vfs_that_come_after_the_mode_have_representors_with_their_names(host: Machine):
    """As the approach does it: the mode first, then VFs, then `udevadm settle`, then the names."""
    sh(host, f"echo 0 >{DEVICE}/sriov_numvfs")
    mode = Run(host, [(SWITCHDEV, False)])
    mode.apply()
    try:
        sh(host, f"echo 2 >{DEVICE}/sriov_numvfs; udevadm settle --timeout=30")
        run = Run(host, [(NAMED, False)])
        run.apply()
        assert "gpu-1-n0" in netdevs(host)
        run.undo()
    finally:
        mode.undo()
