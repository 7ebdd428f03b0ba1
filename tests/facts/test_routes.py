"""Look-ups of addresses, against what the kernel itself answered (`ip route get`).

The samples are of a network namespace with policy rules, two default routes, a multipath route,
`throw`, `unreachable`, and IPv4 over an IPv6 gateway (iproute2 6.1, kernel 6.18).
"""

import json
from pathlib import Path
from typing import Any

import pytest

from wirespeed.facts.routes import MAX_BYTES, Routes
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import CannotTellError, Unreadable

SAMPLES = Path(__file__).parent / "samples/ip"
USUAL = [
    {"priority": 0, "src": "all", "table": "local"},
    {"priority": 32766, "src": "all", "table": "main"},
]


def parse(routes: str, rules: str, rules6: str, errors: str = "") -> Routes:
    sections = [
        Section("ip-route", "", routes, errors, 0),
        Section("ip-rule", "", rules, "", 0),
        Section("ip-rule6", "", rules6, "", 0),
    ]
    return Routes.parse(Capture(sections, complete=True))


def real() -> Routes:
    return parse(*((SAMPLES / f"{n}_policy.txt").read_text() for n in ("route", "rule", "rule6")))


def with_rules(*rules: dict[str, Any]) -> Routes:
    routes = [
        {"dst": "default", "gateway": "192.0.2.1", "dev": "eth0"},
        {"dst": "default", "gateway": "198.51.100.1", "dev": "eth1", "table": "7"},
    ]
    return parse(json.dumps(routes), json.dumps([*USUAL, *rules]), json.dumps(USUAL))


@pytest.mark.parametrize(
    ("peer", "netdev", "gateway"),
    [
        ("10.9.0.7", "v1", ""), ("10.8.0.5", "v3", ""), ("10.61.1.1", "v1", "fd01::9"),
        ("8.8.8.8", "v3", "10.8.0.254"), ("10.7.1.1", "v3", "10.8.0.9"),
        ("10.44.1.1", "v1", "10.9.0.7"), ("10.44.5.1", "v3", "10.8.0.254"),
        ("10.70.2.1", "v1", "10.9.0.254"), ("10.70.1.1", "v3", "10.8.0.254"),
        ("fd01::5", "v1", ""), ("fd77::1", "v1", "fd01::2"), ("fd55::1", "v3", "fd02::9"),
        ("2001:db8::1", "v3", "fd02::ff"),
    ],
)  # fmt: skip
def test_traffic_leaves_by_the_netdev_that_the_kernel_chose(peer: str, netdev: str, gateway: str):
    way = real().route_to(peer).value
    assert (way.kind, way.netdevs) == ("unicast", (netdev,))
    assert way.gateways == ((gateway,) if gateway else ())


@pytest.mark.parametrize(
    ("peer", "kind"),
    [
        ("10.9.0.1", "local"), ("127.0.0.9", "local"), ("fd01::1", "local"),
        ("10.60.1.1", "unreachable"), ("10.62.1.1", "blackhole"), ("10.6.1.1", "unreachable"),
    ],
)  # fmt: skip
def test_traffic_that_leaves_by_no_port_says_why(peer: str, kind: str):
    assert real().route_to(peer).value.kind == kind


def test_a_multipath_route_may_leave_by_each_of_its_ports():
    assert real().route_to("10.50.3.3").value.netdevs == ("v1", "v3")


def test_a_hop_whose_link_is_down_carries_nothing():
    hops = [
        {"gateway": "192.0.2.1", "dev": "eth0", "flags": ["dead", "linkdown"]},
        {"gateway": "198.51.100.1", "dev": "eth1", "flags": []},
    ]
    routes = parse(json.dumps([{"dst": "default", "nexthops": hops}]), json.dumps(USUAL), "[]")
    assert routes.route_to("8.8.8.8").value.netdevs == ("eth1",)


@pytest.mark.parametrize(
    "selector", [{"uid_start": 0, "uid_end": 9}, {"ipproto": "tcp"}, {"dport": 80}, {"goto": 9}]
)
def test_a_rule_that_asks_for_what_is_not_known_cannot_be_told(selector: dict[str, Any]):
    routes = with_rules({"priority": 5, "src": "all", "table": "7", **selector})
    with pytest.raises(CannotTellError, match="policy rule 5") as raised:
        routes.route_to("8.8.8.8")
    assert raised.value.would_tell == "ip route get 8.8.8.8"


@pytest.mark.parametrize(
    ("selector", "netdev"),
    [
        ({}, "eth1"), ({"fwmark": "0x1"}, "eth0"), ({"not": None, "fwmark": "0x1"}, "eth1"),
        ({"iif": "eth5"}, "eth0"), ({"oif": "eth5"}, "eth0"), ({"l3mdev": None}, "eth0"),
        ({"src": "192.0.2.0", "srclen": 24}, "eth0"), ({"suppress_prefixlen": 0}, "eth0"),
        ({"iif": "lo"}, "eth1"), ({"iif": "lo", "oif": "eth5"}, "eth0"), ({"tos": "0x10"}, "eth0"),
        ({"fwmark": "0", "fwmask": "0xff"}, "eth1"), ({"fwmark": "0x10", "fwmask": "0xf"}, "eth1"),
        ({"fwmark": "0x10", "fwmask": "0x10"}, "eth0"),
        ({"dst": "8.0.0.0", "dstlen": 8}, "eth1"), ({"dst": "9.0.0.0", "dstlen": 8}, "eth0"),
        ({"not": None, "dst": "9.0.0.0", "dstlen": 8}, "eth1"),
    ],
)  # fmt: skip
def test_a_rule_holds_for_packets_of_its_kind_only(selector: dict[str, Any], netdev: str):
    rule = {"priority": 5, "src": "all", "table": "7", **selector}
    assert with_rules(rule).route_to("8.8.8.8").value.netdevs == (netdev,)


def test_too_many_routes_are_unreadable_and_not_guessed():
    routes = parse("[" + " " * MAX_BYTES, json.dumps(USUAL), json.dumps(USUAL))
    assert isinstance(routes.routes, Unreadable)


def test_a_tool_that_knows_no_json_is_unreadable():
    routes = parse("", "[]", "[]", errors="ip: unrecognized option: j")
    assert isinstance(routes.routes, Unreadable)
    with pytest.raises(CannotTellError):
        routes.route_to("8.8.8.8")


@pytest.mark.parametrize("bad", [{"dst": "10.0.0.0/99"}, {"dst": "nonsense"}, {"dst": None}])
def test_a_route_that_makes_no_sense_spoils_the_answer_and_nothing_else(bad: dict[str, Any]):
    assert isinstance(parse(json.dumps([bad]), "[]", "[]").routes, Unreadable)
