"""Networks of guests over tunnels between hosts: names and addresses, the same on every host. Pure.

Each host has one address in the underlay; each network one bridge on every host that has a guest in
it, and one tunnel from there to each other such host, with the network's segment as its key: a full
mesh, so that no host forwards for another.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface, ip_interface

from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.spec.networks import Tunnel

MAX_NAME = 15
"""Bytes of a netdev's name: IFNAMSIZ without its end."""
PORTS = {Tunnel.VXLAN: 4789, Tunnel.GENEVE: 6081}
"""UDP port that IANA gave out: RFC 7348, RFC 8926."""


@dataclass(frozen=True, slots=True)
class Mesh:
    """One tunnel, as its host sees it."""

    netdev: str
    remote_host: str
    network: str
    options: dict[str, str]
    """As Open vSwitch takes them."""


def underlay_address(spec: GuestNetworks, host: str) -> IPv4Interface | IPv6Interface:
    """Give a host's address in the underlay: its place in the spec, counted from 1."""
    subnet = spec.underlay.subnet
    place = list(spec.hosts).index(host) + 1
    return ip_interface(f"{subnet.network_address + place}/{subnet.prefixlen}")


def networks_on(spec: GuestNetworks, host: str) -> tuple[str, ...]:
    """Give the networks that guests of a host are in, in the order of the spec."""
    wanted = {n for guest in spec.guests.values() if guest.host == host for n in guest.networks}
    return tuple(network for network in spec.networks if network in wanted)


def meshes(spec: GuestNetworks, host: str, network: str) -> Iterator[Mesh]:
    """Give a host's tunnels of one network."""
    segment = spec.networks[network].segment
    own = underlay_address(spec, host).ip
    for number, other in enumerate(spec.hosts, 1):
        if other == host or network not in networks_on(spec, other):
            continue
        options = {
            "key": str(segment),
            "local_ip": str(own),
            "remote_ip": str(underlay_address(spec, other).ip),
            "dst_port": str(PORTS[spec.underlay.tunnel]),
        }
        # A segment has eight digits at most, and is of one network only.
        yield Mesh(_short(f"t{segment}-{other}", f"t{segment}-{number}"), other, network, options)


def bridge_of(network: str) -> str:
    """Give the name of a network's bridge."""
    return _short(f"br-{network}", f"br-{_digest(network)}")


def guest_port_of(guest: str, network: str, number: int) -> str:
    """Give the name of the host's end of a guest's network number `number`."""
    return _short(f"{guest}-n{number}", f"g{_digest(f'{guest}/{network}')}")


def _short(name: str, otherwise: str) -> str:
    return name if len(name) <= MAX_NAME else otherwise


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]
