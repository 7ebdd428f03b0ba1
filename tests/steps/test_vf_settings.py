"""Each setting of a VF is set and comes back, and no other is touched."""

import json
from typing import Any

import pytest
from described_vfs import DescribedVfs, Vf
from proof import DescribedControl, plan_on, prove
from pydantic import ValidationError

from wirespeed.apply.executor import Executor
from wirespeed.model.capture import Section
from wirespeed.model.error import ApplyError
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import State
from wirespeed.steps.vf_settings import VfSettings

PF = "enp3s0f0np0"
MAC = "02:00:00:00:40:01"


def step(**settings: Any) -> VfSettings:
    return VfSettings(netdev=PF, vf=1, **settings)


def pf(**settings: Any) -> DescribedVfs:
    return DescribedVfs([Vf(mac="02:00:00:00:00:10", vlan=7), Vf(**settings)])


@pytest.mark.parametrize(
    ("settings", "before", "after"),
    [
        ({"mac": MAC}, {}, {"mac": MAC}),
        ({"mac": MAC}, {"mac": "02:00:00:00:40:99"}, {"mac": MAC}),
        ({"vlan": 40}, {}, {"vlan": 40}),
        ({"vlan": 0}, {"vlan": 40}, {}),
        ({"vlan": 40}, {"vlan": 50, "qos": 3, "protocol": "802.1ad"}, {"vlan": 40}),
        ({"trust": True}, {}, {"trust": True}),
        ({"spoof_check": False}, {}, {"spoofchk": False}),
        ({"max_tx_mbit_per_s": 1000}, {"min_tx": 100}, {"max_tx": 1000, "min_tx": 100}),
        ({"min_tx_mbit_per_s": 500, "max_tx_mbit_per_s": 900}, {"max_tx": 100},
         {"min_tx": 500, "max_tx": 900}),
        ({"min_tx_mbit_per_s": 5, "max_tx_mbit_per_s": 9}, {"min_tx": 100, "max_tx": 200},
         {"min_tx": 5, "max_tx": 9}),
    ],
)  # fmt: skip
def test_one_setting(settings: dict[str, Any], before: dict[str, Any], after: dict[str, Any]):
    prove(step(**settings), pf(**before), pf(**after))


def test_all_together():
    prove(
        step(mac=MAC, vlan=40, trust=True, spoof_check=False, max_tx_mbit_per_s=25000),
        pf(vlan=7, qos=5),
        pf(mac=MAC, vlan=40, trust=True, spoofchk=False, max_tx=25000),
    )


def test_a_tag_that_stands_there_keeps_its_priority():
    plan = plan_on(step(vlan=40), pf(vlan=40, qos=5))
    assert plan.steps[0].commands == ()


def test_the_commands_are_those_that_an_admin_types():
    plan = plan_on(step(mac=MAC, vlan=40, spoof_check=True, trust=True), pf(vlan=50, qos=3))
    first = f"ip link set dev {PF} vf 1"
    assert [c.line() for c in plan.steps[0].commands] == [
        f"{first} mac {MAC}", f"{first} vlan 40", f"{first} trust on",
    ]  # fmt: skip
    assert [c.line() for c in plan.steps[0].undo] == [
        f"{first} mac 00:00:00:00:00:00", f"{first} vlan 50 qos 3", f"{first} trust off",
    ]  # fmt: skip


def test_limits_that_the_kernel_refuses_leave_what_was_there():
    start = pf(min_tx=500)
    control = DescribedControl(start)
    plan = plan_on(step(vlan=40, max_tx_mbit_per_s=100), start)
    with pytest.raises(ApplyError) as caught:
        Executor(plan, {"alpha": control}, lambda _: None, lambda: "now").apply()
    assert caught.value.what == "step.failed" and "max_tx_rate 100" in caught.value.found
    assert control.host == pf(min_tx=500)


def state_of(one: VfSettings, vf: dict[str, Any], netdev: str = PF) -> Observed[State]:
    text = json.dumps([{"ifname": netdev, "vfinfo_list": [{"vf": 1, **vf}]}])
    return one.parse(Section("step", "x", text, "", 0))


def test_older_iproute2_prints_the_address_and_the_tag_elsewhere():
    """iproute2 before 4.20: `mac`, and `vlan` beside it (commits 9d7c2ef8, 92eac6ba of it)."""
    state = state_of(step(mac=MAC, vlan=40), {"mac": MAC, "vlan": 40, "qos": 2})
    assert isinstance(state, Known)
    assert state.value == {"mac": MAC, "vlan": 40, "vlan_qos": 2, "vlan_protocol": "802.1Q"}


@pytest.mark.parametrize(
    ("settings", "vf"),
    [
        ({"trust": True}, {}),
        ({"trust": True}, {"trust": "off"}),
        ({"mac": MAC}, {"address": "02:00"}),
        ({"mac": MAC}, {"address": 7}),
        ({"vlan": 40}, {"vlan_list": [{"vlan": "40"}]}),
        ({"vlan": 40}, {"vlan_list": [{"vlan": 40, "protocol": "; reboot"}]}),
        ({"max_tx_mbit_per_s": 9}, {"rate": {"min_tx": 0}}),
        ({"max_tx_mbit_per_s": 9}, {"rate": [1]}),
    ],
)
def test_what_the_driver_does_not_tell_is_unreadable(settings: dict[str, Any], vf: dict[str, Any]):
    assert isinstance(state_of(step(**settings), vf), Unreadable)


def test_a_vf_that_is_not_there_is_unreadable():
    assert isinstance(state_of(step(vlan=1), {}, "other"), Unreadable)
    one = VfSettings(netdev=PF, vf=2, vlan=1)
    assert isinstance(state_of(one, {}), Unreadable)
    for output in ("", "[]", "[{}]", "{", "[" * 9999, '{"vf": 1}', "null"):
        assert isinstance(one.parse(Section("step", "x", output, "", 0)), Unreadable)
    gone = Section("step", "x", "", f'Device "{PF}" does not exist.\n', 1)
    assert isinstance(one.parse(gone), Unreadable)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"mac": "01:00:5e:00:00:01"},
        {"mac": "00:00:00:00:00:00"},
        {"mac": "02:00:00:00:40"},
        {"vlan": 4095},
        {"min_tx_mbit_per_s": 9, "max_tx_mbit_per_s": 8},
    ],
)
def test_it_takes_only_what_a_vf_can_have(settings: dict[str, Any]):
    with pytest.raises(ValidationError):
        step(**settings)


def test_a_vf_that_is_made_by_the_plan_shows_its_commands():
    made = step(mac=MAC, vlan=40, max_tx_mbit_per_s=100)
    assert made.made() == {
        "mac": "00:00:00:00:00:00", "vlan": 0, "vlan_qos": 0, "vlan_protocol": "802.1Q",
        "max_tx_mbit_per_s": 0,
    }  # fmt: skip
    commands = made.change(made.made(), made.wanted(made.made()))
    first = f"ip link set dev {PF} vf 1"
    assert [c.line() for c in commands] == [
        f"{first} mac {MAC}", f"{first} vlan 40", f"{first} max_tx_rate 100",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "said", "told"),
    [
        ({"trust": True}, "Operation not permitted", "the driver refuses trust"),
        ({"mac": MAC}, "Operation not permitted", "settings of VFs"),
        ({"trust": True}, "Operation not supported", "leave `trust` out"),
    ],
)
def test_a_driver_that_refuses_is_diagnosed(settings: dict[str, Any], said: str, told: str):
    hands = DescribedControl(pf())
    plan = plan_on(step(**settings), pf())
    hands.refuses, hands.refusal = 0, f"RTNETLINK answers: {said}"
    with pytest.raises(ApplyError) as caught:
        Executor(plan, {"alpha": hands}, lambda _: None, lambda: "now").apply()
    assert said in caught.value.found
    assert told in caught.value.next
    assert hands.host == pf()
