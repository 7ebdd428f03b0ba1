"""A port that another program sets up is refused before anything is changed."""

from collections.abc import Iterator

import pytest
from described_host import Put
from rebooting_host import RebootingHost

from described.approach import planned_by
from wirespeed import catalog
from wirespeed.apply.make import plan_spec
from wirespeed.apply.owner_guard import ports_named, refuse_owned
from wirespeed.apply.planner import make_plan
from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.traits import RequestedStep
from wirespeed.model.capture import Capture, Section
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan
from wirespeed.model.step import State, Step
from wirespeed.runs.host_plan import Allowed, do_plan
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.sysctl import Sysctl
from wirespeed.steps.vf_count import VfCount

SPEC = parse_spec(
    """
hosts: {alpha: {reach: here, ports: ["0000:d8:00.0"]}}
approach: legacy-vlan
failover: none
underlay: {subnet: 192.168.9.0/24, mtu: 9000}
networks: {}
guests: {}
""",
    "spec.yaml",
)
PORT, OTHER = "0000:d8:00.0", "0000:d8:00.1"
DEVICE = "/sys/devices/pci0000:d7/0000:d7:00.0"


def host(*lines: str) -> HostFacts:
    ports = "".join(
        f"{netdev} driver=mlx5_core physfn= port= device={DEVICE}/{address}\n"
        for netdev, address in (("eth0", PORT), ("eth1", OTHER))
    )
    sections = [
        Section("ports", "", ports, "", 0),
        Section("port-owners", "", "\n".join(lines), "", 0),
    ]
    return HostFacts("alpha", Capture(sections, complete=True))


def plan(step: Step, now: State) -> Plan:
    return make_plan([("alpha", step, Known(now, "cat"))])


MTU = plan(Mtu(netdev="eth0", mtu=9000), {"mtu": 1500})
SO_ALREADY = plan(Mtu(netdev="eth0", mtu=1500), {"mtu": 1500})
VFS = plan(VfCount(pci_address=PORT, num_vfs=4), {"num_vfs": 0})


def refused(wanted: Plan, facts: HostFacts, *ports: str) -> str:
    try:
        refuse_owned("alpha", wanted.steps, facts, ports)
    except InputError as error:
        assert error.where == f"alpha {PORT}" and error.next and error.so
        return error.what
    return ""


@pytest.mark.parametrize("wanted", [MTU, VFS])
def test_what_a_policy_selects_is_the_operators(wanted: Plan):
    assert refused(wanted, host(f"operator {PORT} no"), PORT) == "plan.port_of_operator"
    assert refused(wanted, host(f"selected pciaddress: {PORT}"), PORT) == "plan.port_of_operator"
    assert not refused(wanted, host(f"operator {OTHER} no"), PORT)
    assert not refused(wanted, host(), PORT)


def test_of_what_is_externally_managed_the_vfs_are_the_operators():
    facts = host(f"operator {PORT} yes")
    assert not refused(MTU, facts, PORT)
    assert refused(VFS, facts, PORT) == "plan.port_of_operator"


def test_what_is_so_already_needs_no_owner():
    assert not refused(SO_ALREADY, host(f"operator {PORT} no"), PORT)


@pytest.mark.parametrize(
    "line",
    [
        "count NetworkManager eth0 8",
        f"count systemd.link {PORT} 4",
        "count ifcfg eth0 0",
        "netplan 4 eth0\nnetplan 6 .\nnetplan 6 virtual-function-count: 3",
    ],
)
def test_two_programs_do_not_make_the_vfs_of_one_port(line: str):
    assert refused(VFS, host(line), PORT) == "plan.vfs_of_another"
    assert not refused(MTU, host(line), PORT)
    assert not refused(VFS, host(line.replace("eth0", "eth1").replace(PORT, OTHER)), PORT)


def test_the_ports_that_a_plan_names_are_told_from_those_beside():
    assert ports_named(MTU.steps, "alpha", host()) == [PORT]
    assert ports_named(VFS.steps, "alpha", host()) == [PORT]
    assert ports_named(SO_ALREADY.steps, "alpha", host()) == []
    sysctl = plan(Sysctl(name="net.core.rmem_max", value="1", reason="x"), {"value": "2"})
    assert ports_named(sysctl.steps, "alpha", host()) == []


def test_a_capture_of_a_former_collector_is_not_refused():
    facts = HostFacts("alpha", Capture([], complete=True))
    assert not refused(VFS, facts, PORT)


@pytest.mark.parametrize(
    "step", [VfCount(pci_address=PORT, num_vfs=4), Mtu(netdev="eth0", mtu=9000)]
)
def test_steps_of_another_host_do_not_count(step: Step):
    of_beta = make_plan([("beta", step, Known({"mtu": 1, "num_vfs": 0}, "cat"))])
    assert not refused(of_beta, host(f"operator {PORT} no"), PORT)
    assert ports_named(of_beta.steps, "alpha", host()) == []


def test_a_spec_whose_port_is_the_operators_is_not_planned(monkeypatch: pytest.MonkeyPatch):
    def approach(*_: object) -> Iterator[RequestedStep]:
        yield RequestedStep(Put(key="mtu", value=9000))

    monkeypatch.setattr(catalog, "step_types", lambda: {"put": Put})
    monkeypatch.setattr(catalog, "approaches", planned_by({"legacy-vlan": approach}))
    controls = {"alpha": RebootingHost({"mtu": 1500})}
    assert len(plan_spec(SPEC, {"alpha": host()}, controls).steps) == 1
    with pytest.raises(InputError) as caught:
        plan_spec(SPEC, {"alpha": host(f"operator {PORT} no")}, controls)
    assert caught.value.what == "plan.port_of_operator"


@pytest.mark.parametrize("wanted", [MTU, VFS])
def test_a_remedy_at_a_port_of_the_operators_is_not_applied(wanted: Plan):
    facts = host(f"operator {PORT} no")
    with pytest.raises(InputError) as caught:
        do_plan(wanted, "x", SPEC, facts, {}, Allowed(is_applied=True, yes=True))
    assert caught.value.what == "plan.port_of_operator"
