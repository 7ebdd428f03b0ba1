"""Frames within forged tunnels, taken apart by the layout of the standards."""

import struct
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest

from wirespeed.measure.network.forged import KINDS, OUTER_KINDS, End
from wirespeed.measure.network.forged_outer import HostEnd, outer_forged
from wirespeed.model.network_trial import ForgedKind

WORD = b"\x11\x22\x33\x44\x55\x66\x77\x88"
SENDER = End("02:aa:00:00:00:01", 42, IPv4Address("192.168.10.1"))
RECEIVER = End("02:bb:00:00:00:02", 4000, IPv4Address("192.168.20.2"))
HOST_MAC = "02:dd:00:00:00:04"
PORT = {"VXLAN": 4789, "GENEVE": 6081}
"""RFC 7348 5, RFC 8926 3.3."""
HEADER = {"VXLAN": "08000000000fa000", "GENEVE": "00006558000fa000"}


def made(version: int) -> dict[ForgedKind, tuple[bytes, int]]:
    own, other = ("fd00::1", "fd00::2") if version == 6 else ("192.168.9.1", "192.168.9.2")
    ends = (HostEnd("02:ee:00:00:00:05", ip_address(own)), HostEnd(HOST_MAC, ip_address(other)))
    templates = outer_forged(WORD, SENDER, RECEIVER, *ends)
    return {KINDS[one.kind]: (one.frame, one.offset) for one in templates}


def ones_complement_sum(data: bytes) -> int:
    """0xffff where a checksum holds (RFC 1071)."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("kind", OUTER_KINDS)
@pytest.mark.parametrize("number", [0, 199, 65535])
def test_a_host_would_take_it_for_one_of_its_tunnels(version: int, kind: ForgedKind, number: int):
    template, offset = made(version)[kind]
    data = bytearray(template)
    data[offset : offset + 8] = struct.pack("!II", number, number ^ 0xFFFFFFFF)
    frame = bytes(data)
    name = kind.name.removesuffix("_BROADCAST")
    to = b"\xff" * 6 if kind.name.endswith("BROADCAST") else bytes.fromhex("02dd00000004")
    assert frame[:12] == to + SENDER.mac_bytes
    if version == 4:
        ip, udp = frame[14:34], frame[34:]
        assert frame[12:14] == b"\x08\x00"
        assert ones_complement_sum(ip) == 0xFFFF
        assert struct.unpack("!H", ip[2:4])[0] == len(frame) - 14
        addresses, protocol = ip[12:], ip[9]
        assert IPv4Address(ip[12:16]) == IPv4Address("192.168.9.1")
    else:
        ip, udp = frame[14:54], frame[54:]
        assert frame[12:14] == b"\x86\xdd"
        assert struct.unpack("!H", ip[4:6])[0] == len(udp)
        addresses, protocol = ip[8:], ip[6]
        assert IPv6Address(ip[24:]) == IPv6Address("fd00::2")
    assert protocol == 17
    assert struct.unpack("!HH", udp[2:6]) == (PORT[name], len(udp))
    pseudo = addresses + struct.pack("!II", len(udp), 17)
    assert ones_complement_sum(pseudo + udp) == 0xFFFF
    # VNI 4000 = 0x000fa0.
    assert udp[8:16] == bytes.fromhex(HEADER[name])
    inner = udp[16:]
    assert inner[:14] == RECEIVER.mac_bytes + SENDER.mac_bytes + b"\x88\xb5"
    assert inner[14:22] == WORD


def test_only_outer_kinds_are_made():
    assert set(made(4)) == set(OUTER_KINDS)
    assert set(OUTER_KINDS) < set(ForgedKind)
