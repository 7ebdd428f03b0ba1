"""What a guest has in its networks: addresses, names, and the steps within it. Pure.

Network number i of a guest, in the order of the spec, is net{i}p0 in it. Where guests own VFs, it
has one for every port of the host: net{i}p0, net{i}p1, … With fail-over they are members of
bond{i}, which has the address; else net{i}p0 has it, and the others are spare.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface
from itertools import islice
from typing import Any

from wirespeed.approaches.guest_index import guest_index
from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.spec.guests import GuestKind
from wirespeed.model.step import Step
from wirespeed.steps.address import Address
from wirespeed.steps.bond import Bond
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.mtu import Mtu

LOCAL_STATION = 0x02
"""First byte of a MAC address that no vendor gives out."""
MIIMON_MS = 100
ARP_MS = 200
"""A host that is busy answers late: three missed are a lost port."""
MAX_PEERS = 16
"""BOND_MAX_ARP_TARGETS of the kernel."""
DEAF_DRIVERS = ("igb",)
"""Of PFs whose VFs (igbvf) are not told when the port loses its link."""


@dataclass(frozen=True, slots=True)
class GuestNetwork:
    """A guest in one of its networks."""

    network: str
    segment: int
    mtu: int
    mac: str
    """Of all its ports there, and so of the bond: no VF needs to be trusted."""
    address: IPv4Interface
    members: tuple[str, ...]
    """Ports within the guest, in the order of the host's."""
    netdev: str
    """What has the address."""


def guest_networks(spec: GuestNetworks, guest: str) -> tuple[GuestNetwork, ...]:
    """Give a guest's networks in the order of the spec."""
    ports = len(spec.hosts[spec.guests[guest].host].ports) if spec.guests_own_vfs else 1
    found = []
    for index, name in enumerate(spec.guests[guest].networks):
        members = tuple(f"net{index}p{port}" for port in range(ports))
        is_bond = spec.has_bonds and ports > 1
        network = spec.networks[name]
        found.append(
            GuestNetwork(
                network=name,
                segment=network.segment,
                mtu=network.mtu,
                mac=guest_mac(guest, name),
                address=guest_address(spec, guest, name),
                members=members,
                netdev=f"bond{index}" if is_bond else members[0],
            )
        )
    return tuple(found)


def guest_address(spec: GuestNetworks, guest: str, network: str) -> IPv4Interface:
    """Give a guest's address: .1, .2, … by its place among the network's guests in the spec."""
    return _address(spec, network, guest_index(spec).places[network, guest])


def guest_mac(guest: str, network: str) -> str:
    """Give the MAC address of a guest in a network: the same from run to run, and on both ports."""
    digest = hashlib.sha256(f"{guest}/{network}".encode()).digest()
    return ":".join(f"{byte:02x}" for byte in (LOCAL_STATION, *digest[:5]))


def far_peers(spec: GuestNetworks, guest: str, network: str) -> tuple[IPv4Address, ...]:
    """Give the addresses that a guest reaches over the wire alone: of guests on other hosts.

    A guest on the same host answers through the card itself, with the cable pulled.
    """
    others = (
        _address(spec, network, place).ip
        for place, other in enumerate(guest_index(spec).by_network[network])
        if spec.guests[other].host != spec.guests[guest].host
        and spec.guests[other].kind is not GuestKind.NONE
    )
    return tuple(islice(others, MAX_PEERS))


def steps_in_guest(
    spec: GuestNetworks, guest: str, of: GuestNetwork, *, is_deaf: bool
) -> Iterator[Step]:
    """Give the steps within a guest for one network, whose ports are there and have their names.

    `is_deaf`: the VFs do not notice the state of their port's link.
    """
    if of.netdev not in of.members:
        watch = _watch(spec, guest, of.network, is_deaf=is_deaf)
        yield Bond(netdev=of.netdev, members=of.members, mode="active-backup", **watch)
    # Of a bond it is the members' too: bond_change_mtu().
    yield Mtu(netdev=of.netdev, mtu=of.mtu)
    if of.netdev in of.members:
        yield LinkUp(netdev=of.netdev)
    yield Address(netdev=of.netdev, address=of.address)


def _watch(spec: GuestNetworks, guest: str, network: str, *, is_deaf: bool) -> dict[str, Any]:
    """Say how the bond learns that a port is lost."""
    if not is_deaf:
        return {"miimon_ms": MIIMON_MS}
    peers = far_peers(spec, guest, network)
    if not peers:
        reason = (
            "These VFs do not hear of a lost link, and no guest of the network on another host "
            "could be asked by ARP: they do not fail over."
        )
        return {"miimon_ms": MIIMON_MS, "reason": reason}
    return {
        "arp_interval_ms": ARP_MS,
        "arp_ip_targets": peers,
        "arp_validate": "active",
        "reason": "These VFs do not hear of a lost link: guests on other hosts are asked by ARP.",
    }


def _address(spec: GuestNetworks, network: str, place: int) -> IPv4Interface:
    subnet = spec.networks[network].subnet
    return IPv4Interface((subnet.network_address + 1 + place, subnet.prefixlen))
