"""Forged frames, taken apart by the layout of the standards and not by the code that makes them."""

import struct
from ipaddress import IPv4Address, IPv6Address
from typing import TypeAlias

import pytest

from wirespeed.measure.network.forged import (
    KINDS,
    PLAIN_KINDS,
    End,
    Template,
    control,
    forged,
    spoofed,
)
from wirespeed.model.network_trial import ForgedKind

WORD = b"\x11\x22\x33\x44\x55\x66\x77\x88"
OWN, OTHER, THIRD = "02:aa:00:00:00:01", "02:bb:00:00:00:02", "02:cc:00:00:00:03"
SENDER = End(OWN, 42, IPv4Address("192.168.10.1"))
RECEIVER = End(OTHER, 40, IPv4Address("192.168.20.2"))
NOBODY = IPv4Address("192.168.20.254")


Made: TypeAlias = dict[ForgedKind, Template]


def mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


@pytest.fixture(scope="module")
def by_kind() -> dict[ForgedKind, Template]:
    made = forged(WORD, SENDER, RECEIVER, THIRD, NOBODY)
    return {KINDS[one.kind]: one for one in made}


def ones_complement_sum(data: bytes) -> int:
    """0xffff where a checksum holds (RFC 1071)."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def numbered(template: Template, number: int) -> bytes:
    """As the sender does it."""
    frame = bytearray(template.frame)
    frame[template.offset : template.offset + 8] = struct.pack("!II", number, number ^ 0xFFFFFFFF)
    return bytes(frame)


def test_every_kind_is_made_with_its_mark_and_is_long_enough(by_kind: Made):
    assert set(by_kind) == set(PLAIN_KINDS)
    for kind, template in by_kind.items():
        assert len(template.frame) >= 60
        at = template.frame.index(WORD)
        assert struct.unpack_from("!H", template.frame, at + 8)[0] == KINDS.index(kind)
        assert template.offset == at + 10


@pytest.mark.parametrize(
    ("kind", "head"),
    [
        (ForgedKind.UNTAGGED, mac(OTHER) + mac(OWN) + b"\x88\xb5"),
        (ForgedKind.BROADCAST, b"\xff" * 6 + mac(OWN) + b"\x88\xb5"),
        (ForgedKind.TAGGED, mac(OTHER) + mac(OWN) + b"\x81\x00\x00\x28\x88\xb5"),
        (ForgedKind.PRIORITY_TAGGED, mac(OTHER) + mac(OWN) + b"\x81\x00\x00\x00\x88\xb5"),
        (
            ForgedKind.DOUBLE_TAGGED,
            mac(OTHER) + mac(OWN) + b"\x81\x00\x00\x2a\x81\x00\x00\x28\x88\xb5",
        ),
        (ForgedKind.SERVICE_TAGGED, mac(OTHER) + mac(OWN) + b"\x88\xa8\x00\x28\x88\xb5"),
        (ForgedKind.FORGED_SOURCE_MAC, mac(OTHER) + mac(THIRD) + b"\x88\xb5"),
    ],
)
def test_the_headers_are_those_of_the_kind(by_kind: Made, kind: ForgedKind, head: bytes):
    # VLAN 40 is 0x28, 42 is 0x2a.
    assert by_kind[kind].frame.startswith(head + WORD)


def test_arp_asks_for_its_address_on_behalf_of_nobody(by_kind: Made):
    frame = by_kind[ForgedKind.ARP].frame
    assert frame[:14] == b"\xff" * 6 + mac(OWN) + b"\x08\x06"
    kind, protocol, mac_bytes, ip_bytes, operation = struct.unpack("!HHBBH", frame[14:22])
    assert (kind, protocol, mac_bytes, ip_bytes, operation) == (1, 0x0800, 6, 4, 1)
    assert frame[22:32] == mac(OWN) + NOBODY.packed
    assert frame[38:42] == RECEIVER.address.packed


@pytest.mark.parametrize("number", [0, 1, 599, 0xFFFF, 0x10000, 0xFFFFFFFF])
def test_every_number_has_right_checksums(by_kind: Made, number: int):
    frame = numbered(by_kind[ForgedKind.IPV4], number)
    ip = frame[14:34]
    assert ip[0] == 0x45
    assert ip[12:20] == NOBODY.packed + RECEIVER.address.packed
    assert ones_complement_sum(ip) == 0xFFFF
    length = struct.unpack("!H", ip[2:4])[0]
    icmp = frame[34 : 14 + length]
    assert icmp[:2] == b"\x08\x00"
    assert ones_complement_sum(icmp) == 0xFFFF
    assert WORD in icmp

    frame = numbered(by_kind[ForgedKind.IPV6_MULTICAST], number)
    assert frame[:14] == bytes.fromhex("333300000001") + mac(OWN) + b"\x86\xdd"
    payload, following, hops = struct.unpack("!HBB", frame[18:22])
    assert following == 58
    assert hops >= 1
    source, to = IPv6Address(frame[22:38]), IPv6Address(frame[38:54])
    # RFC 4291, appendix A: the universal bit turned, ff:fe in the midst.
    assert source == IPv6Address("fe80::aa:ff:fe00:1")
    assert to == IPv6Address("ff02::1")
    icmp = frame[54 : 54 + payload]
    pseudo = frame[22:54] + struct.pack("!IBBBB", payload, 0, 0, 0, 58)
    assert ones_complement_sum(pseudo + icmp) == 0xFFFF
    assert icmp[0] == 128


def test_within_ones_own_network_only_the_source_is_forged():
    template = spoofed(WORD, RECEIVER, THIRD)
    assert template.frame.startswith(mac(OTHER) + mac(THIRD) + b"\x88\xb5" + WORD)
    assert KINDS[template.kind] is ForgedKind.FORGED_SOURCE_MAC


def test_honest_frames_are_of_no_forged_kind_and_are_tagged_by_a_host():
    of_guest = control(WORD, OWN, RECEIVER, None)
    assert of_guest.kind >= len(KINDS)
    assert of_guest.frame.startswith(mac(OTHER) + mac(OWN) + b"\x88\xb5")
    of_host = control(WORD, OWN, RECEIVER, 40)
    assert of_host.frame.startswith(mac(OTHER) + mac(OWN) + b"\x81\x00\x00\x28\x88\xb5")
