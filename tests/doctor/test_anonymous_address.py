import ipaddress
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.doctor.anonymous_address import Addresses

KEY = b"a key for tests, of thirty-two b"
ADDRESSES = Addresses(KEY)
V4 = st.ip_addresses(v=4)
V6 = st.ip_addresses(v=6)


def common_bits(one: int, two: int, width: int) -> int:
    return width - (one ^ two).bit_length()


def is_kept_v4(address: ipaddress.IPv4Address) -> bool:
    return address.is_loopback or address >= ipaddress.IPv4Address("224.0.0.0") or (
        address < ipaddress.IPv4Address("1.0.0.0")
    )  # fmt: skip


@given(V4, V4)
def test_two_addresses_keep_the_length_of_their_common_prefix(
    one: ipaddress.IPv4Address, two: ipaddress.IPv4Address
):
    if is_kept_v4(one) or is_kept_v4(two):
        return
    made = [int(ADDRESSES.ipv4(address)) for address in (one, two)]
    assert common_bits(*made, 32) == common_bits(int(one), int(two), 32)


@given(V4)
def test_no_part_of_an_ipv4_address_that_is_not_its_range_stays(address: ipaddress.IPv4Address):
    made = ADDRESSES.ipv4(address)
    if is_kept_v4(address):
        assert made == address
        return
    assert made.packed[2] != address.packed[2]
    assert made.packed[3] != address.packed[3]


@pytest.mark.parametrize(
    "text", ["10.1.2.3", "172.16.9.9", "172.31.1.1", "192.168.77.1", "169.254.3.4"]
)
def test_the_range_of_an_address_stays(text: str):
    ranges = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"]
    (network,) = [
        net for net in map(ipaddress.ip_network, ranges) if ipaddress.ip_address(text) in net
    ]
    assert ADDRESSES.ipv4(ipaddress.IPv4Address(text)) in network


@given(V4, st.integers(1, 32))
def test_a_network_stays_one_and_has_the_same_members(address: ipaddress.IPv4Address, length: int):
    network = ipaddress.ip_network((address, length), strict=False)
    if any(is_kept_v4(end) for end in (network[0], network[-1])):
        return
    made = ADDRESSES.ipv4(network.network_address, length)
    assert ADDRESSES.ipv4(address) in ipaddress.ip_network((made, length))


@given(V6, V6)
def test_ipv6_addresses_keep_their_common_prefix_too(
    one: ipaddress.IPv6Address, two: ipaddress.IPv6Address
):
    def is_plain(address: ipaddress.IPv6Address) -> bool:
        special = address.is_multicast or int(address) <= 1 or address.ipv4_mapped
        return not special and address.packed[11:13] != b"\xff\xfe"

    if is_plain(one) and is_plain(two):
        made = [int(ADDRESSES.ipv6(address)) for address in (one, two)]
        assert common_bits(*made, 128) == common_bits(int(one), int(two), 128)


@pytest.mark.parametrize(
    "text", ["::", "::1", "ff02::1", "ff02::fb", "127.0.0.1", "0.0.0.1", "224.0.0.251",
             "255.255.255.255"]
)  # fmt: skip
def test_what_is_the_same_on_every_host_stays(text: str):
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv4Address):
        assert ADDRESSES.ipv4(address) == address
    else:
        assert ADDRESSES.ipv6(address) == address


@given(st.binary(min_size=6, max_size=6))
def test_a_hardware_address_keeps_its_vendor_and_nothing_else(mac: bytes):
    made = ADDRESSES.octets(mac)
    if (mac[0] & 1 and not mac.startswith(b"\x33\x33\xff")) or not any(mac):
        assert made == mac
        return
    assert made[3:] != mac[3:]
    assert ADDRESSES.octets(made) == mac  # Pairs: one to one.
    assert made[0] == mac[0]
    if not mac[0] & 2:
        assert made[:3] == mac[:3]


def test_an_address_made_of_a_hardware_address_still_is():
    mac = bytes.fromhex("b8599f03aabb")
    address = ipaddress.IPv6Address("fe80::ba59:9fff:fe03:aabb")
    made, new_mac = ADDRESSES.ipv6(address), ADDRESSES.octets(mac)
    expected = bytes([new_mac[0] ^ 2]) + new_mac[1:3] + b"\xff\xfe" + new_mac[3:]
    assert made.packed == bytes.fromhex("fe80000000000000") + expected
    group = ADDRESSES.ipv6(ipaddress.IPv6Address("ff02::1:ff03:aabb"))
    assert group.packed[13:] == new_mac[3:]
    assert ADDRESSES.octets(bytes.fromhex("3333ff03aabb"))[3:] == new_mac[3:]
    for middle in ("fffe", "0300"):
        guid = ADDRESSES.octets(bytes.fromhex(f"b8599f{middle}03aabb"))
        assert guid == new_mac[:3] + bytes.fromhex(middle) + new_mac[3:]


def test_another_key_gives_other_addresses():
    address = ipaddress.IPv4Address("10.20.30.40")
    made = {Addresses(os.urandom(32)).ipv4(address) for _ in range(20)}
    assert len(made) > 15
