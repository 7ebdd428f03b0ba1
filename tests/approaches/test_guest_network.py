"""What a guest has in its networks: addresses, names, and whom it asks whether a port is well."""

from ipaddress import IPv4Address, IPv4Interface

import pytest

from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.guest_network import (
    far_peers,
    guest_address,
    guest_mac,
    guest_networks,
    steps_in_guest,
)
from wirespeed.model.spec.spec import Spec
from wirespeed.steps.bond import Bond

SPEC = """
hosts:
  alpha: {reach: ssh://root@alpha, ports: ["0000:03:00.0", "0000:03:00.1"]}
  beta: {reach: ssh://root@beta, ports: ["0000:03:00.0", "0000:03:00.1"]}
approach: legacy-vlan
underlay: {subnet: 192.168.9.0/24, mtu: 9080}
networks:
  storage: {segment: 42, subnet: 192.168.10.0/24, mtu: 9000}
  public: {segment: 40, subnet: 192.168.20.64/26, mtu: 1500}
  friends: {segment: 41, subnet: 192.168.30.0/24, mtu: 1500}
guests:
  ceph-1: {host: alpha, networks: [storage], kind: namespace}
  gpu-1: {host: beta, networks: [public, storage, friends], kind: namespace}
  ceph-2: {host: alpha, networks: [storage], kind: namespace}
  web-1: {host: beta, networks: [public], kind: namespace}
  by-hand: {host: alpha, networks: [public]}
"""


def spec(text: str = SPEC) -> Spec:
    return parse_spec(text, "spec.yaml")


def test_addresses_are_given_in_the_order_of_the_spec():
    expected = {
        ("ceph-1", "storage"): "192.168.10.1/24",
        ("gpu-1", "storage"): "192.168.10.2/24",
        ("ceph-2", "storage"): "192.168.10.3/24",
        ("gpu-1", "public"): "192.168.20.65/26",
        ("web-1", "public"): "192.168.20.66/26",
        ("by-hand", "public"): "192.168.20.67/26",
        ("gpu-1", "friends"): "192.168.30.1/24",
    }
    for (guest, network), address in expected.items():
        assert guest_address(spec(), guest, network) == IPv4Interface(address)


def test_names_go_by_the_place_of_the_network_and_of_the_port():
    names = [(of.network, of.members, of.netdev) for of in guest_networks(spec(), "gpu-1")]
    assert names == [
        ("public", ("net0p0", "net0p1"), "bond0"),
        ("storage", ("net1p0", "net1p1"), "bond1"),
        ("friends", ("net2p0", "net2p1"), "bond2"),
    ]


def test_without_failover_the_first_port_has_the_address_and_no_bond_is_made():
    single = spec(SPEC.replace("approach:", "failover: none\napproach:"))
    of = guest_networks(single, "gpu-1")[1]
    assert (of.members, of.netdev) == (("net1p0", "net1p1"), "net1p0")
    assert kinds(single, "gpu-1", 1) == ["mtu net1p0", "link_up net1p0", "address net1p0"]


def test_with_failover_the_bond_has_the_mtu_and_the_address():
    assert kinds(spec(), "gpu-1", 1) == ["bond bond1", "mtu bond1", "address bond1"]


def kinds(of: Spec, guest: str, place: int) -> list[str]:
    network = guest_networks(of, guest)[place]
    return [
        f"{step.model_dump()['step']} {step.subject}"
        for step in steps_in_guest(of, guest, network, is_deaf=True)
    ]


def bond(of: Spec, guest: str, place: int = 0, *, is_deaf: bool = True) -> Bond:
    network = guest_networks(of, guest)[place]
    found = next(steps_in_guest(of, guest, network, is_deaf=is_deaf))
    assert isinstance(found, Bond)
    return found


def test_a_vf_that_hears_of_its_link_is_watched_by_it():
    found = bond(spec(), "gpu-1", is_deaf=False)
    assert (found.miimon_ms, found.arp_interval_ms) == (100, 0)


def test_a_vf_that_does_not_asks_guests_of_its_network_on_other_hosts():
    """Its neighbour ceph-1 is no witness: the card itself carries what they say to each other."""
    found = bond(spec(), "ceph-2")
    assert found.arp_ip_targets == (IPv4Address("192.168.10.2"),)
    assert (found.miimon_ms, found.arp_validate) == (0, "active")
    assert "do not hear" in found.why
    of_gpu = bond(spec(), "gpu-1", 1)
    assert list(map(str, of_gpu.arp_ip_targets)) == ["192.168.10.1", "192.168.10.3"]


def test_who_has_nobody_to_ask_is_said_not_to_fail_over():
    """web-1's network has a guest on the other host, but somebody else is to start it."""
    for guest, place in (("gpu-1", 2), ("web-1", 0)):
        found = bond(spec(), guest, place)
        assert (found.miimon_ms, found.arp_interval_ms) == (100, 0)
        assert "do not fail over" in found.why


def test_no_more_are_asked_than_the_kernel_takes():
    more = "".join(
        f"  node-{n}: {{host: beta, networks: [storage], kind: namespace}}\n" for n in range(20)
    )
    assert len(far_peers(spec(SPEC + more), "ceph-1", "storage")) == 16


def test_a_mac_is_of_one_guest_in_one_network_and_given_out_by_nobody():
    macs = {guest_mac(guest, network) for guest in ("a", "b") for network in ("x", "y")}
    assert len(macs) == 4
    assert all(int(mac[:2], 16) & 0b11 == 0b10 for mac in macs)


@pytest.mark.parametrize("approach", ["ovs-tc", "ovs-dpdk"])
def test_a_guest_without_vfs_has_one_port_for_a_network(approach: str):
    of = guest_networks(spec(SPEC.replace("legacy-vlan", approach)), "gpu-1")[0]
    assert (of.members, of.netdev) == (("net0p0",), "net0p0")
