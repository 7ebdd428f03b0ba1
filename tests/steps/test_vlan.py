"""A VLAN's netdev is made and removed, and another's of that name left alone."""

import json
from typing import Any

import pytest
from described_links import DescribedLinks, Netdev
from proof import plan_on, prove
from pydantic import ValidationError

from wirespeed.model.capture import Section
from wirespeed.model.observed import Known, Unreadable
from wirespeed.steps.vlan import Vlan

STEP = Vlan(netdev="bond0.40", lower="bond0", vlan=40)
OPTIONS = {"protocol": "802.1Q", "id": 40, "flags": ["REORDER_HDR"]}


def host(vlan: Netdev | None = None) -> DescribedLinks:
    mine = {} if vlan is None else {"bond0.40": vlan}
    return DescribedLinks({"bond0": Netdev(), **mine})


def vlan(is_up: bool = True, lower: str = "bond0", **options: Any) -> Netdev:
    return Netdev(is_up=is_up, kind="vlan", lower=lower, options=OPTIONS | options)


def test_it_is_made_and_removed():
    prove(STEP, host(), host(vlan()))


def test_on_a_netdev_that_is_new_there_is_none():
    state = STEP.parse(Section("step", "x", host().run(STEP.read()).output, "", 0))
    assert isinstance(state, Known) and state.value == STEP.made()


def test_one_that_was_down_is_down_again():
    prove(STEP, host(vlan(is_up=False)), host(vlan()))


def test_the_commands():
    plan = plan_on(STEP, host()).steps[0]
    assert [c.line() for c in plan.commands] == [
        "ip link add link bond0 name bond0.40 type vlan id 40",
        "ip link set dev bond0.40 up",
    ]
    assert [c.line() for c in plan.undo] == ["ip link del dev bond0.40"]


def test_one_that_was_down_and_is_gone_is_made_again_and_left_down():
    gone, down = {"is_there": False, "is_up": None}, {"is_there": True, "is_up": False}
    assert [c.line() for c in STEP.change(gone, down)] == [
        "ip link add link bond0 name bond0.40 type vlan id 40"
    ]


@pytest.mark.parametrize(
    "other",
    [vlan(id=41), vlan(protocol="802.1ad"), vlan(lower="eth0"), Netdev(), Netdev(kind="bridge")],
)
def test_the_netdev_of_another_is_left_alone(other: Netdev):
    state = STEP.parse(Section("step", "x", host(other).run(STEP.read()).output, "", 0))
    assert isinstance(state, Unreadable) and "another bond0.40" in state.reason


@pytest.mark.parametrize("links", ["", "{", [], [{"ifname": "bond0.40"}], {"ifname": "bond0"}])
def test_without_the_lower_netdev_nothing_is_known(links: object):
    text = links if isinstance(links, str) else json.dumps(links)
    assert isinstance(STEP.parse(Section("step", "x", text, "", 0)), Unreadable)


@pytest.mark.parametrize("fields", [{"vlan": 0}, {"vlan": 4095}, {"lower": "bond0.40"}])
def test_it_takes_only_a_vlan(fields: dict[str, Any]):
    with pytest.raises(ValidationError):
        Vlan.model_validate({"netdev": "bond0.40", "lower": "bond0", "vlan": 40} | fields)
