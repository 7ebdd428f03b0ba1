"""A step that may take down what a host is reached by is refused."""

import json

import pytest

from wirespeed.apply.guard import carriers, refuse_cutoff, with_cutoffs
from wirespeed.apply.planner import planned
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan
from wirespeed.model.step import State, Step
from wirespeed.steps.bond import Bond
from wirespeed.steps.in_namespace import InNamespace
from wirespeed.steps.kernel_command_line import KernelCommandLine
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.vf_count import VfCount

USUAL = {"flags": ["UP"], "mtu": 1500, "operstate": "UP", "link_type": "ether"}
LINKS = [
    {"ifindex": 2, "ifname": "eth0", **USUAL, "master": "bond0"},
    {"ifindex": 3, "ifname": "bond0", **USUAL, "linkinfo": {"info_kind": "bond"}},
    {"ifindex": 4, "ifname": "eth1", **USUAL},
    {"ifindex": 5, "ifname": "eth2", **USUAL},
]
ROUTES = [
    {"dst": "default", "gateway": "198.51.100.1", "dev": "bond0", "flags": []},
    {"dst": "203.0.113.0/24", "dev": "eth1", "scope": "link", "flags": []},
]
RULES = [{"priority": 32766, "src": "all", "table": "main"}]


def host(session: str = "203.0.113.7 50022 203.0.113.1 22") -> HostFacts:
    sections = {
        "ports": "".join(
            f"{n} driver=igb physfn= port= device=/sys/devices/pci0000:00/0000:00:0{i}.0\n"
            for i, n in enumerate(("eth0", "eth1", "eth2"), 1)
        ),
        "ip-link": json.dumps(LINKS),
        "ip-addr": json.dumps([]),
        "ip-route": json.dumps(ROUTES),
        "ip-rule": json.dumps(RULES),
        "ip-rule6": json.dumps(RULES),
        "session": session + "\n",
    }
    body = "".join(f"case begin {n} -\n{text}\ncase end 0\n" for n, text in sections.items())
    return HostFacts("alpha", parse_capture(f"wirespeed-capture 1 case\n{body}case done\n", "a"))


def plan_of(netdev: str, now: int = 1500) -> Plan:
    step = Mtu(netdev=netdev, mtu=9000)
    return Plan(steps=(planned("alpha", step, Known({"mtu": now}, "ip link")),))


def test_the_default_route_and_the_session_are_carried_by_bond_members_and_ports():
    found = carriers(host())
    assert found["eth0"] == found["bond0"] == "the default route"
    assert found["eth1"] == "your session"
    assert "eth2" not in found


@pytest.mark.parametrize(("netdev", "what"), [("eth0", "default route"), ("eth1", "your session")])
def test_a_step_that_may_take_it_down_is_refused(netdev: str, what: str):
    with pytest.raises(InputError) as caught:
        refuse_cutoff(plan_of(netdev), {"alpha": host()})
    assert caught.value.what == "plan.cuts_off"
    assert what in caught.value.found


def test_another_port_is_free():
    refuse_cutoff(plan_of("eth2"), {"alpha": host()})


def test_a_port_of_no_session_is_free():
    refuse_cutoff(plan_of("eth1"), {"alpha": host(session="")})


def test_a_step_that_does_nothing_takes_nothing_down():
    refuse_cutoff(plan_of("eth0", now=9000), {"alpha": host()})


def one(step: Step, now: State) -> Plan:
    return Plan(steps=(planned("alpha", step, Known(now, "cat")),))


def test_a_step_that_names_it_among_others_or_by_its_address_is_refused_too():
    bond = Bond(netdev="bond9", members=("eth2", "eth1"), mode="active-backup", miimon_ms=100)
    state: State = {"is_there": False, "is_up": None}
    state |= {"eth1 master": None, "eth1 is_up": True, "eth2 master": None, "eth2 is_up": True}
    vfs = VfCount(pci_address="0000:00:02.0", num_vfs=2)
    for plan in (one(bond, state), one(vfs, {"num_vfs": 0})):
        with pytest.raises(InputError) as caught:
            refuse_cutoff(plan, {"alpha": host()})
        assert caught.value.what == "plan.cuts_off"
        assert "eth1 carries your session" in caught.value.found


def test_what_has_that_name_in_a_namespace_is_another():
    step = InNamespace.of("ceph-1", Mtu(netdev="eth0", mtu=9000))
    refuse_cutoff(one(step, {"mtu": 1500}), {"alpha": host()})


def test_with_leave_such_steps_are_marked_and_no_other():
    marked = with_cutoffs(plan_of("eth1"), {"alpha": host()}, here=())
    assert marked.steps[0].cuts == "eth1 carries your session"
    assert with_cutoffs(plan_of("eth2"), {"alpha": host()}, here=()).steps[0].cuts == ""
    assert with_cutoffs(plan_of("eth1", now=9000), {"alpha": host()}, here=()).steps[0].cuts == ""


def test_nobody_can_come_back_from_here_to_here():
    with pytest.raises(InputError) as caught:
        with_cutoffs(plan_of("eth1"), {"alpha": host()}, here={"alpha"})
    assert "on the host's console" in caught.value.next
    # On the console nobody is to be cut off.
    marked = with_cutoffs(plan_of("eth0"), {"alpha": host(session="")}, here={"alpha"})
    assert marked.steps[0].cuts == ""


def test_where_nobody_can_tell_what_carries_the_session_it_is_refused():
    with pytest.raises(InputError) as caught:
        refuse_cutoff(plan_of("eth2"), {"alpha": host(session="unknown")})
    assert caught.value.what == "plan.cutoff_unknown"
    assert "sudo" in caught.value.found
    assert "--allow-cutoff" in caught.value.next


def test_where_nobody_can_tell_and_it_is_allowed_the_host_has_a_timer():
    marked = with_cutoffs(plan_of("eth2"), {"alpha": host(session="unknown")}, here=())
    assert "could not be determined" in marked.steps[0].cuts


def test_a_reboot_is_not_refused_for_what_it_takes_down():
    step = KernelCommandLine(parameters=("isolcpus=2",), reason="for a test")
    now = Known({"content": None, "is_in_menu": False}, "grep")
    refuse_cutoff(Plan(steps=(planned("alpha", step, now),)), {"alpha": host(session="unknown")})
