"""A bridge of ours in Open vSwitch."""

import pytest
from described_ovsdb import DescribedOvs, Row
from proof import plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.steps.ovs_bridge import OvsBridge

STEP = OvsBridge(bridge="br-storage", datapath_type="netdev", owner="spec")
ROW = {
    "datapath_type": "netdev",
    "fail_mode": "standalone",
    "external_ids": {"wirespeed": "spec"},
}
USERS = {"br-user": Row({"external_ids": {"bridge-id": "br-user"}})}
NONE = '{"data":[],"headings":["name","datapath_type","fail_mode","external_ids"]}\n'
OURS = (
    '{"data":[["br-storage","netdev","standalone",["map",[["wirespeed","spec"]]]]],'
    '"headings":["name","datapath_type","fail_mode","external_ids"]}\n'
)


def ovs(*, ours: bool) -> DescribedOvs:
    return DescribedOvs(bridges=USERS | ({"br-storage": Row(dict(ROW))} if ours else {}))


def test_it_is_made_beside_a_users_own_and_taken_away():
    prove(STEP, ovs(ours=False), ovs(ours=True))


def test_the_commands():
    planned = plan_on(STEP, ovs(ours=False)).steps[0]
    assert [c.line() for c in planned.commands] == [
        "ovs-vsctl --timeout=10 --may-exist add-br br-storage -- set Bridge br-storage "
        "datapath_type=netdev fail_mode=standalone external_ids:wirespeed=spec"
    ]
    assert [c.line() for c in planned.undo] == [
        "ovs-vsctl --timeout=10 --if-exists del-br br-storage"
    ]


def test_real_outputs():
    assert state_of(STEP, section_of(NONE)) == {"is_there": False}
    assert state_of(STEP, section_of(OURS)) == {"is_there": True}
    is_never_guessed(STEP)


@pytest.mark.parametrize(
    ("was", "becomes", "why"),
    [
        ('["map",[["wirespeed","spec"]]]', '["map",[]]', "wirespeed did not make it"),
        ('"spec"', '"other"', "it is of 'other'"),
        ('"netdev"', '"system"', "its datapath is 'system'"),
        ('"netdev"', '""', "its datapath is 'system'"),
    ],
)
def test_a_bridge_of_somebody_else_stays_as_it_is(was: str, becomes: str, why: str):
    assert why in reason_of(STEP, section_of(OURS.replace(was, becomes)))


@pytest.mark.parametrize("bad", [{"bridge": "-x"}, {"bridge": "a" * 16}, {"owner": 'a"b'}])
def test_names_are_checked(bad: dict[str, str]):
    with pytest.raises(ValidationError):
        OvsBridge(**{"bridge": "br0", "datapath_type": "system", "owner": "spec", **bad})
