"""A port of a bridge of ours in Open vSwitch."""

import pytest
from described_ovsdb import DescribedOvs, Row
from proof import plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.steps.ovs_port import OvsPort

STEP = OvsPort(
    bridge="br-storage",
    netdev="vx-beta",
    interface_type="vxlan",
    options={"key": "42", "local_ip": "192.168.9.2", "remote_ip": "192.168.9.1"},
    owner="spec",
)
ACCESS = OvsPort(
    bridge="br-storage",
    netdev="eth0",
    interface_type="system",
    mtu_request=9080,
    vlan=42,
    owner="spec",
)
MARK = {"external_ids": {"wirespeed": "spec"}}
OURS = """\
{"data":[["vx-beta","vxlan",["map",[["key","42"],["local_ip","192.168.9.2"],["remote_ip","192.168.9.1"]]],["set",[]],["map",[["wirespeed","spec"]]]]],"headings":["name","type","options","mtu_request","external_ids"]}
{"data":[[["uuid","cdc5d024-a795-4cfe-84b8-50eafddbd607"],["set",[]],["map",[["wirespeed","spec"]]]]],"headings":["_uuid","tag","external_ids"]}
{"data":[["br-storage",["set",[["uuid","663cd68a-54c3-48cc-bc0e-c9b3105de644"],["uuid","cdc5d024-a795-4cfe-84b8-50eafddbd607"]]]]],"headings":["name","ports"]}
"""
NONE = """\
{"data":[],"headings":["name","type","options","mtu_request","external_ids"]}
{"data":[],"headings":["_uuid","tag","external_ids"]}
{"data":[["br-storage",["uuid","663cd68a-54c3-48cc-bc0e-c9b3105de644"]]],"headings":["name","ports"]}
"""


def ovs(*ports: tuple[str, Row, Row]) -> DescribedOvs:
    users = ("br-user", Row({"tag": 7}), Row())
    return DescribedOvs(
        bridges={"br-storage": Row(dict(MARK)), "br-user": Row()},
        ports={"eth9": users}
        | {"vx-beta" if i.columns.get("options") else "eth0": (b, p, i) for b, p, i in ports},
    )


def test_a_tunnel_is_made_and_taken_away_and_a_users_port_stays():
    interface = {"type": "vxlan", "options": dict(STEP.options), **MARK}
    prove(STEP, ovs(), ovs(("br-storage", Row(dict(MARK)), Row(interface))))


def test_an_access_port_with_its_tag_and_mtu():
    interface = {"type": "system", "mtu_request": 9080, **MARK}
    prove(ACCESS, ovs(), ovs(("br-storage", Row({**MARK, "tag": 42}), Row(interface))))


def test_the_commands_are_one_transaction():
    planned = plan_on(STEP, ovs()).steps[0]
    assert [c.line() for c in planned.commands] == [
        "ovs-vsctl --timeout=10 --may-exist add-port br-storage vx-beta "
        "-- set Interface vx-beta type=vxlan options:key=42 "
        "options:local_ip=192.168.9.2 options:remote_ip=192.168.9.1 "
        "external_ids:wirespeed=spec "
        "-- set Port vx-beta external_ids:wirespeed=spec"
    ]
    assert [c.line() for c in planned.undo] == [
        "ovs-vsctl --timeout=10 --if-exists del-port br-storage vx-beta"
    ]


def test_a_port_of_dpdk_may_take_its_time():
    port = OvsPort(bridge="br-phy", netdev="phy-p0", interface_type="dpdk", owner="spec")
    for there in (True, False):
        command = port.change({"is_there": not there}, {"is_there": there})[0]
        assert command.argv[1] == "--timeout=60"


def test_real_outputs():
    assert state_of(STEP, section_of(OURS)) == {"is_there": True}
    assert state_of(STEP, section_of(NONE)) == {"is_there": False}
    is_never_guessed(STEP)


@pytest.mark.parametrize(
    ("was", "becomes", "why"),
    [
        ('"br-storage"', '"br-user"', "it is in br-user"),
        (',["uuid","cdc5d024-a795-4cfe-84b8-50eafddbd607"]]]]]', "]]]]", "it is in no bridge"),
        ('["map",[["wirespeed","spec"]]]', '["map",[]]', "wirespeed did not make it"),
        ('"wirespeed","spec"', '"wirespeed","other"', "it is of 'other'"),
        ('"key","42"', '"key","43"', "options"),
        ('"vxlan"', '"geneve"', "type geneve"),
        ('192.168.9.1"]]],["set",[]]', '192.168.9.1"]]],9080', "mtu_request 9080"),
        ('50eafddbd607"],["set",[]]', '50eafddbd607"],40', "tag 40"),
    ],
)
def test_a_port_of_somebody_else_stays_as_it_is(was: str, becomes: str, why: str):
    assert was in OURS
    assert why in reason_of(STEP, section_of(OURS.replace(was, becomes)))


@pytest.mark.parametrize(
    "bad",
    [
        {"netdev": "a b"},
        {"options": {"key": "1 -- del-br br0"}},
        {"options": {"key": '1"'}},
        {"options": {"--x": "1"}},
        {"vlan": 0},
    ],
)
def test_names_are_checked(bad: dict[str, object]):
    good: dict[str, object] = {"bridge": "b", "netdev": "p", "interface_type": "vxlan"}
    with pytest.raises(ValidationError):
        OvsPort.model_validate({**good, "owner": "spec", **bad})


def test_a_port_that_open_vswitch_could_not_make_is_not_as_wanted_and_can_be_taken_out():
    """ovs-vsctl succeeds then: only the column tells."""
    failed = "could not add network device vx-beta to ofproto (No such device)"
    output = OURS.replace(
        '[["wirespeed","spec"]]]]],"headings":["name","type","options","mtu_request",'
        '"external_ids"]}',
        f'[["wirespeed","spec"]]],"{failed}"]],"headings":["name","type","options","mtu_request",'
        '"external_ids","error"]}',
    )
    assert failed in output
    state = state_of(STEP, section_of(output))
    assert state == {"is_there": True, "error": failed} != STEP.wanted(state)
    assert "del-port" in STEP.change(state, {"is_there": False})[0].argv
