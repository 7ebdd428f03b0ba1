"""Whatever a host prints, facts of the stack and of cards are parsed without an exception."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wirespeed.facts.bonds import Bonds
from wirespeed.facts.eswitch import Eswitch
from wirespeed.facts.firmware import Firmware
from wirespeed.facts.firmware_driver import DriverOrigin
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ovs import Ovs
from wirespeed.facts.routes import Routes
from wirespeed.facts.sriov import Sriov
from wirespeed.facts.tc import Tc
from wirespeed.model.capture import Capture, Section
from wirespeed.model.fact import Fact
from wirespeed.model.observed import CannotTellError

FACTS: dict[type[Fact], tuple[str, ...]] = {
    Bonds: ("bonding",), DriverOrigin: ("driver", "driver-installed", "driver-log"),
    Eswitch: ("devlink-eswitch", "mlx5-lag"), Firmware: ("devlink-info", "mstconfig", "mlxconfig"),
    NetStack: ("ip-link", "ip-addr"), Ovs: ("ovs-db", "ovs-upcall"),
    Routes: ("ip-route", "ip-rule", "ip-rule6"), Sriov: ("ports", "sriov"), Tc: ("tc-filters",),
}  # fmt: skip
NAMES = st.sampled_from(
    [
        "ifname", "ifindex", "mtu", "master", "link", "linkinfo", "info_kind", "info_data",
        "vfinfo_list", "vf", "vlan_list", "address", "addr_info", "local", "prefixlen", "dst",
        "dev", "via", "nexthops", "flags", "gateway", "table", "metric", "priority", "src",
        "not", "headings", "data", "name", "type", "options", "ports", "interfaces", "versions",
        "running", "fw.version",
    ]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["all", "default", "bond", "vxlan", "10.0.0.0/8", "::", "set", "map"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=12,
)  # fmt: skip
TEXTS = st.text(max_size=200) | VALUES.map(json.dumps) | st.lists(VALUES).map(json.dumps)
CODES = st.sampled_from([0, 1, 127, 124, None])


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.__name__)
@given(texts=st.lists(TEXTS, min_size=3, max_size=3), errors=st.text(max_size=40), code=CODES)
@settings(max_examples=60, deadline=None)
def test_nothing_that_a_host_prints_raises(
    fact: type[Fact], texts: list[str], errors: str, code: int | None
):
    names = [(name, subject) for name in FACTS[fact] for subject in ("", "0000:03:00.0")]
    sections = [
        Section(name, subject, texts[i % 3], errors, code)
        for i, (name, subject) in enumerate(names)
    ]
    fact.parse(Capture(sections, complete=code == 0))


@given(routes=VALUES, rules=VALUES)
@settings(max_examples=100, deadline=None)
def test_a_look_up_ends_in_a_way_or_in_cannot_tell(routes: object, rules: object):
    found = Routes.parse(
        Capture(
            [
                Section("ip-route", "", json.dumps([routes]), "", 0),
                Section("ip-rule", "", json.dumps([rules]), "", 0),
            ],
            complete=True,
        )
    )
    try:
        found.route_to("192.0.2.1")
    except CannotTellError as error:
        assert error.would_tell == "ip route get 192.0.2.1"
