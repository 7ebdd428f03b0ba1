"""`ip -j -d link show` and `ip -j addr show` of iproute2 6.1, of a network namespace with a bridge,
a veth pair, a macvlan and VXLAN tunnels. VFs and bonds are as iproute2's source prints them
(ip/ipaddress.c, ip/iplink_bond.c): no machine here has either.
"""

import json
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import pytest

from wirespeed.facts.netstack import NetStack, VfSettings, named_plainly
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, CannotTellError, Known, Unreadable

SAMPLES = Path(__file__).parent / "samples/ip"


def stack(links: str, addresses: str = "[]") -> NetStack:
    sections = [Section("ip-link", "", links, "", 0), Section("ip-addr", "", addresses, "", 0)]
    return NetStack.parse(Capture(sections, complete=True))


def real() -> NetStack:
    links, addresses = (SAMPLES / f"{name}_stack.txt" for name in ("link", "addr"))
    return stack(links.read_text(), addresses.read_text())


def of(**fields: Any) -> NetStack:
    return stack(json.dumps([{"ifindex": 2, "ifname": "eth0", **fields}]))


def vf(**fields: Any) -> VfSettings:
    return of(vfinfo_list=[{"vf": 0, **fields}])["eth0"].vfs[0]


def test_the_mtu_kind_and_master_of_a_netdev_are_read():
    port = real()["v0"]
    assert (port.mtu, port.kind) == (
        Known(1500, "ip -d link show v0"), Known("veth", "ip -d link show v0"),
    )  # fmt: skip
    assert port.master == Known("br0", "ip -d link show v0")
    assert isinstance(real()["lo"].master, Absent)


def test_the_peer_of_a_veth_is_not_below_it():
    assert isinstance(real()["v1"].lower, Absent)
    assert real()["macv0"].lower == Known("v1", "ip -d link show macv0")
    assert "v0" not in real().ports_below("v1")


def test_a_tunnel_tells_its_ends_and_the_netdev_that_it_is_bound_to():
    bound, over_ipv6, external = (real()[name].vxlan for name in ("vx0", "vx6", "vxe"))
    assert bound and over_ipv6 and external
    source = "ip -d link show vx0"
    assert (bound.vni, bound.local, bound.remote) == (
        Known(42, source), Known("10.9.0.1", source), Known("10.9.0.2", source),
    )  # fmt: skip
    assert (bound.dst_port, bound.underlay) == (Known(4789, source), Known("v1", source))
    assert over_ipv6.remote == Known("fd01::2", "ip -d link show vx6")
    assert isinstance(over_ipv6.underlay, Absent)
    assert isinstance(external.vni, Absent)


def test_addresses_come_with_their_prefix():
    link = real()["v1"]
    assert isinstance(link.addresses, Known)
    assert set(map(ip_interface, ("10.9.0.1/24", "fd01::1/64"))) <= set(link.addresses.value)
    found = real().with_address("10.9.0.1")
    assert found and found.netdev == "v1"


def test_what_lies_below_a_bridge_is_its_members():
    assert real().ports_below("br0") == {"br0", "v0"}
    assert real().ports_below("vx0") == {"vx0", "v1"}
    assert [link.netdev for link in real().directly_above("v1")] == ["macv0"]


def test_members_that_are_each_others_master_end_the_walk():
    looped = [
        {"ifindex": i, "ifname": a, "master": b} for i, a, b in ((1, "a", "b"), (2, "b", "a"))
    ]
    assert stack(json.dumps(looped)).ports_below("a") == {"a", "b"}


@pytest.mark.parametrize("name", ["mac", "address"])
def test_a_vf_without_an_address_is_told_from_one_with(name: str):
    assert vf(**{name: "00:00:00:00:00:00"}).has_mac == Known(False, "ip -d link show eth0")
    assert vf(**{name: "02:00:00:00:00:01"}).has_mac == Known(True, "ip -d link show eth0")


@pytest.mark.parametrize(
    ("fields", "tag"),
    [({"vlan_list": [{"vlan": 40}]}, 40), ({"vlan_list": [{}]}, 0), ({"vlan": 7}, 7), ({}, 0)],
)
def test_the_vlan_of_a_vf_is_read_from_either_place(fields: dict[str, Any], tag: int):
    assert vf(**fields).vlan == Known(tag, "ip -d link show eth0")


def test_what_the_driver_does_not_report_of_a_vf_is_absent():
    settings = vf(address="02:00:00:00:00:01")
    assert isinstance(settings.is_trusted, Absent)
    assert isinstance(settings.is_spoof_checked, Absent)
    assert isinstance(settings.max_tx_mbit_per_s, Absent)


def test_true_is_no_number_and_text_is_no_truth():
    assert isinstance(of(mtu=True)["eth0"].mtu, Unreadable)
    assert isinstance(vf(trust="on").is_trusted, Unreadable)


def test_a_bond_that_watches_nothing_says_0_and_not_nothing():
    info = {"info_kind": "bond", "info_data": {"mode": "active-backup", "miimon": 0}}
    bond = of(linkinfo=info)["eth0"].bond
    assert bond and bond.miimon_ms == Known(0, "ip -d link show eth0")
    assert isinstance(bond.arp_interval_ms, Absent)
    assert isinstance(bond.active_port, Absent)


@pytest.mark.parametrize(("name", "is_one"), [("pf0vf3", True), ("c1pf0sf88", True), ("p0", False)])
def test_a_representor_is_told_by_its_port_name(name: str, is_one: bool):
    assert of(phys_port_name=name)["eth0"].is_vf_representor == is_one


def test_a_tool_that_knows_no_json_is_unreadable():
    section = Section("ip-link", "", "", "ip: unrecognized option: j", 1)
    found = NetStack.parse(Capture([section], complete=True))
    assert found.links == Unreadable("ip: unrecognized option: j", "ip -d link show")
    with pytest.raises(CannotTellError):
        found["eth0"]


@pytest.mark.parametrize("text", ["[", "{}", "[" * 100_000, '[{"ifname": 1, "ifindex": "x"}]', "7"])
def test_json_that_makes_no_sense_gives_no_netdev(text: str):
    assert isinstance(stack(text).links, Unreadable) or not stack(text).links.value  # type: ignore[union-attr]


def test_a_netdev_of_another_namespace_cannot_be_told():
    with pytest.raises(CannotTellError, match="no netdev gone"):
        real()["gone"]


@pytest.mark.parametrize("name", ["-rf", "a;b", "a b", "", "$(x)", "x" * 16, "eth0\n"])
def test_a_name_that_could_be_more_than_a_name_stands_in_no_command(name: str):
    assert not named_plainly(name)
    assert named_plainly("enp3s0f0np0", "bond0.40", "eth0:1", "veth@if3")


def test_the_device_of_a_netdev_is_a_pci_address_on_that_bus_alone():
    here = of(parentbus="pci", parentdev="0000:03:00.0")["eth0"].pci_address
    assert here == Known("0000:03:00.0", "ip -d link show eth0")
    assert isinstance(of(parentbus="virtio", parentdev="virtio0")["eth0"].pci_address, Absent)
