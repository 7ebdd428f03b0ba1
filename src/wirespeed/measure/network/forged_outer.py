"""Forged frames of a guest that makes tunnels itself: frames within VXLAN and Geneve. Pure.

The outer headers are those that the receiver's host awaits: from the other end of its tunnel, with
the key of the receiver's network. They reach the stack of a host wherever a bridge hands it frames
of guests, as a bridge does whose own port is up.

Sources: RFC 7348 (VXLAN), RFC 8926 (Geneve); RFC 768, and RFC 8200 8.1 (checksum with IPv6).
"""

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from wirespeed.measure.network.forged import (
    BROADCAST_MAC,
    EXPERIMENT,
    IPV4,
    IPV6,
    KINDS,
    End,
    Template,
    checksum,
    mark_of,
    marked,
)
from wirespeed.model.network_trial import ForgedKind

UDP = 17
VXLAN_PORT, GENEVE_PORT = 4789, 6081
SOURCE_PORT = 49152
VXLAN_KEY_IS_VALID = 0x08
TRANSPARENT_BRIDGING = 0x6558
"""Geneve's protocol type of an Ethernet frame."""
TTL = 64


@dataclass(frozen=True, slots=True)
class HostEnd:
    """Where the tunnels of a host end."""

    mac: str
    address: IPv4Address | IPv6Address


def outer_forged(
    word: bytes, sender: End, receiver: End, source: HostEnd, host: HostEnd
) -> list[Template]:
    """Make a frame of every outer kind, to the receiver through its host.

    `source` is a host that this one has a tunnel to; the segment of `receiver` is the key.
    """
    to_host = bytes.fromhex(host.mac.replace(":", ""))
    heads = {
        ForgedKind.VXLAN: (to_host, VXLAN_PORT, _vxlan(receiver.vlan)),
        ForgedKind.VXLAN_BROADCAST: (BROADCAST_MAC, VXLAN_PORT, _vxlan(receiver.vlan)),
        ForgedKind.GENEVE: (to_host, GENEVE_PORT, _geneve(receiver.vlan)),
        ForgedKind.GENEVE_BROADCAST: (BROADCAST_MAC, GENEVE_PORT, _geneve(receiver.vlan)),
    }
    inner = receiver.mac_bytes + sender.mac_bytes + EXPERIMENT.to_bytes(2, "big")
    found = []
    for kind, (to, port, tunnel) in heads.items():
        number = KINDS.index(kind)
        text = mark_of(word, number)
        headers = _headers(source, host, port, tunnel + inner, text)
        head = to + sender.mac_bytes + headers + tunnel + inner
        found.append(marked(number, head, text))
    return found


def _vxlan(key: int) -> bytes:
    return struct.pack("!II", VXLAN_KEY_IS_VALID << 24, key << 8)


def _geneve(key: int) -> bytes:
    return struct.pack("!HHI", 0, TRANSPARENT_BRIDGING, key << 8)


def _headers(source: HostEnd, host: HostEnd, port: int, head: bytes, text: bytes) -> bytes:
    """Give EtherType, IP and UDP headers of a packet whose data are `head` and `text`."""
    length = 8 + len(head) + len(text)
    addresses = source.address.packed + host.address.packed
    pseudo = addresses + struct.pack("!II", length, UDP)
    udp = struct.pack("!HHHH", SOURCE_PORT, port, length, 0)
    # What the number and its complement add is the same for all numbers.
    # None at all would be 0.
    udp = udp[:6] + (checksum(pseudo + udp + head + text).replace(b"\0\0", b"\xff\xff"))
    if host.address.version == 6:
        ip = struct.pack("!IHBB", 6 << 28, length, UDP, TTL) + addresses
        return IPV6.to_bytes(2, "big") + ip + udp
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 1, 0, TTL, UDP, 0) + addresses
    ip = ip[:10] + checksum(ip) + ip[12:]
    return IPV4.to_bytes(2, "big") + ip + udp
