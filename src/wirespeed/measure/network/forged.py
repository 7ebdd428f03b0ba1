"""Frames that try to get where they must not, byte by byte. Pure.

Each has a mark: a word, its kind and its number. The word is drawn for one capture, and its last
byte is the sender's place in it. The number is followed by its complement, so that the sum of both,
and with it every checksum, is the same for all numbers.

Sources: IEEE 802.3 and 802.1Q (tags), RFC 826 (ARP), RFC 791 and 792, RFC 8200 and 4443;
0x88B5 is the EtherType for experiments (IEEE 802, 9.2.3).
"""

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from wirespeed.model.network_trial import ForgedKind

WORD_BYTES = 8
MAX_SENDERS = 100
"""In one capture: a place is one byte, and the last honest frames have one more."""
EXPERIMENT, ARP, IPV4, IPV6, TAG, SERVICE_TAG = 0x88B5, 0x0806, 0x0800, 0x86DD, 0x8100, 0x88A8
BROADCAST_MAC = b"\xff" * 6
ALL_NODES_MAC = bytes.fromhex("333300000001")
ALL_NODES = IPv6Address("ff02::1")
MIN_BYTES = 60
"""A frame without its FCS."""
VLAN_MASK = 0xFFF
ICMP, ICMPV6 = 1, 58
ECHO_REQUEST, ECHO_REQUEST_6 = 8, 128
CONTROL = 250
"""Kind of the frames that must be heard: with a sender's place before its forged ones, and with the
next place after them."""
KINDS = tuple(ForgedKind)
OUTER_KINDS = (
    ForgedKind.VXLAN, ForgedKind.VXLAN_BROADCAST, ForgedKind.GENEVE, ForgedKind.GENEVE_BROADCAST,
)  # fmt: skip
"""Of hosts with tunnels between them alone: network_forged_outer makes them."""
OF_NOBODY = (ForgedKind.ARP, ForgedKind.IPV4)
"""They come from an address that nobody has."""
PLAIN_KINDS = tuple(kind for kind in KINDS if kind not in OUTER_KINDS)


@dataclass(frozen=True, slots=True)
class End:
    """Where a frame comes from or goes to."""

    mac: str
    vlan: int
    address: IPv4Address

    @property
    def mac_bytes(self) -> bytes:
        """Six bytes of it."""
        return bytes.fromhex(self.mac.replace(":", ""))


@dataclass(frozen=True, slots=True)
class Template:
    """A frame, and where its number goes."""

    kind: int
    """Place in KINDS, or a control."""
    frame: bytes
    offset: int
    """Of the number, four bytes, and of its complement after it."""


def forged(
    word: bytes, sender: End, receiver: End, other_mac: str, forged_address: IPv4Address | None
) -> list[Template]:
    """Make a frame of every plain kind.

    `other_mac` is a third guest's, `forged_address` of nobody; None: those that need it are left
    out (`OF_NOBODY`).
    """
    own, to = sender.mac_bytes, receiver.mac_bytes
    other = bytes.fromhex(other_mac.replace(":", ""))
    its_tag, own_tag = _tag(TAG, receiver.vlan), _tag(TAG, sender.vlan)
    heads = {
        ForgedKind.UNTAGGED: to + own,
        ForgedKind.BROADCAST: BROADCAST_MAC + own,
        ForgedKind.TAGGED: to + own + its_tag,
        ForgedKind.PRIORITY_TAGGED: to + own + _tag(TAG, 0),
        ForgedKind.DOUBLE_TAGGED: to + own + own_tag + its_tag,
        ForgedKind.SERVICE_TAGGED: to + own + _tag(SERVICE_TAG, receiver.vlan),
        ForgedKind.FORGED_SOURCE_MAC: to + other,
    }
    found = []
    for kind in PLAIN_KINDS:
        number = KINDS.index(kind)
        mark = mark_of(word, number)
        if kind in heads:
            head = heads[kind] + _type(EXPERIMENT)
        elif kind not in OF_NOBODY:
            head = ALL_NODES_MAC + own + _type(IPV6) + _echo_6(own, mark)
        elif forged_address is None:
            continue
        elif kind is ForgedKind.ARP:
            head = BROADCAST_MAC + own + _type(ARP) + _arp(own, forged_address, receiver.address)
        else:
            head = to + own + _type(IPV4) + _echo(forged_address, receiver.address, mark)
        found.append(marked(number, head, mark))
    return found


def spoofed(word: bytes, receiver: End, other_mac: str) -> Template:
    """Make a frame within one's own network that pretends to come from a third guest."""
    kind = KINDS.index(ForgedKind.FORGED_SOURCE_MAC)
    head = receiver.mac_bytes + bytes.fromhex(other_mac.replace(":", "")) + _type(EXPERIMENT)
    return marked(kind, head, mark_of(word, kind))


def control(word: bytes, sender_mac: str, receiver: End, vlan: int | None) -> Template:
    """Make an honest frame that the receiver must hear, with a tag where the sender puts it on."""
    tag = b"" if vlan is None else _tag(TAG, vlan)
    own = bytes.fromhex(sender_mac.replace(":", ""))
    head = receiver.mac_bytes + own + tag + _type(EXPERIMENT)
    return marked(CONTROL, head, mark_of(word, CONTROL))


def marked(kind: int, head: bytes, mark: bytes) -> Template:
    """Put a mark behind the headers."""
    frame = (head + mark).ljust(MIN_BYTES, b"\0")
    return Template(kind, frame, len(head) + WORD_BYTES + 2)


def mark_of(word: bytes, kind: int) -> bytes:
    """Word, kind, number 0 and its complement."""
    return word + struct.pack("!HII", kind, 0, 0xFFFFFFFF)


def _type(value: int) -> bytes:
    return value.to_bytes(2, "big")


def _tag(protocol: int, vlan: int) -> bytes:
    return struct.pack("!HH", protocol, vlan & VLAN_MASK)


def _arp(mac: bytes, own: IPv4Address, asked: IPv4Address) -> bytes:
    head = struct.pack("!HHBBH", 1, IPV4, 6, 4, 1)
    return head + mac + own.packed + bytes(6) + asked.packed


def _echo(source: IPv4Address, destination: IPv4Address, mark: bytes) -> bytes:
    """Give the headers of an ICMP echo request whose data is `mark`."""
    icmp = struct.pack("!BBHHH", ECHO_REQUEST, 0, 0, 1, 1)
    icmp = icmp[:2] + checksum(icmp + mark) + icmp[4:]
    length = 20 + len(icmp) + len(mark)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, length, 1, 0, 64, ICMP, 0)
    ip += source.packed + destination.packed
    return ip[:10] + checksum(ip) + ip[12:] + icmp


def _echo_6(mac: bytes, mark: bytes) -> bytes:
    """Give the headers of an ICMPv6 echo request to all nodes, from our link-local address."""
    interface = bytes((mac[0] ^ 2, *mac[1:3], 0xFF, 0xFE, *mac[3:]))
    source = IPv6Address("fe80::").packed[:8] + interface
    icmp = struct.pack("!BBHHH", ECHO_REQUEST_6, 0, 0, 1, 1)
    length = len(icmp) + len(mark)
    pseudo = source + ALL_NODES.packed + struct.pack("!IBBBB", length, 0, 0, 0, ICMPV6)
    icmp = icmp[:2] + checksum(pseudo + icmp + mark) + icmp[4:]
    return struct.pack("!IHBB", 6 << 28, length, ICMPV6, 1) + source + ALL_NODES.packed + icmp


def checksum(data: bytes) -> bytes:
    """Internet checksum (RFC 1071) of an even or odd number of bytes."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return (total ^ 0xFFFF).to_bytes(2, "big")
