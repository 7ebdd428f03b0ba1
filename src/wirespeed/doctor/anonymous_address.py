"""Replaces addresses by others so that their relations stay: vendors, subnets, who is whose.

The serial number in a PCI function's configuration space is often its port's EUI-64: it goes.

Everything is drawn from one key, so that the same address becomes the same other one wherever it
stands, and nobody without the key can turn it back. Pure.
"""

import hashlib
import ipaddress
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

IPv4 = ipaddress.IPv4Address
IPv6 = ipaddress.IPv6Address
KEPT_V4 = ("0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
           "192.168.0.0/16", "224.0.0.0/3")  # fmt: skip
"""What a range is for stays; what is within it does not, save in loopback and multicast."""
KEPT_V6 = ("::/64", "::ffff:0:0/96", "64:ff9b::/96", "2000::/3", "fc00::/7", "fe80::/64",
           "ff00::/8")  # fmt: skip
QEMU = bytes.fromhex("525400")
GUID_MIDDLES = (b"\xff\xfe", b"\x03\x00", b"\x00\x03")
"""Between vendor and number: EUI-64, and the two that Mellanox cards use."""
EXTENDED_START = 0x100
SERIAL_CAPABILITY = 0x0003
"""PCI Express Base Specification: Device Serial Number Extended Capability, 8 bytes at +4."""
MAX_CAPABILITIES = 64
BYTES_A_LINE = 16
LONGEST_IPV6 = 60
"""With what may stand before and behind it."""


class Addresses:
    """Maps addresses by a key; every map is one to one and leaves nothing as it was."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._v4 = _Prefixes(self, 4, [ipaddress.ip_network(n) for n in KEPT_V4], 32)
        self._v6 = _Prefixes(self, 6, [ipaddress.ip_network(n) for n in KEPT_V6], 128)

    def digest(self, kind: str, data: bytes, size: int = 16) -> bytes:
        """Give bytes that follow from the key and `data` alone; at most 32 of them."""
        return hashlib.blake2s(
            data, key=self._key, person=kind.encode()[:8], digest_size=size
        ).digest()

    def hexadecimal(self, digits: str) -> str:
        """Other hexadecimal digits, as many."""
        wanted = len(digits)
        made = ""
        while len(made) < wanted:
            made += self.digest("hex", f"{len(made)} {digits.lower()}".encode(), 32).hex()
        return made[:wanted].upper() if digits != digits.lower() else made[:wanted]

    def octets(self, data: bytes) -> bytes:
        """A hardware address of any length: MAC, EUI-64, GUID, InfiniBand."""
        if not any(data) or data.count(0xFF) == len(data):
            return data
        if len(data) == 6:
            return self._mac(data)
        if len(data) == 8 and data[3:5] in GUID_MIDDLES:
            return data[:5] + self._other(data[5:])
        if len(data) == 20:
            return data[:12] + self.octets(data[12:])
        return bytes.fromhex(self.hexadecimal(data.hex()))

    def _mac(self, data: bytes) -> bytes:
        if data[0] & 1:
            # Multicast, but what IPv6 derives of an address: 33:33:ff and its last 24 bits.
            return data[:3] + self._other(data[3:]) if data.startswith(b"\x33\x33\xff") else data
        if data[0] & 2 and data[:3] != QEMU:
            return data[:1] + self._other(data[1:3]) + self._other(data[3:])
        return data[:3] + self._other(data[3:])

    def _other(self, data: bytes) -> bytes:
        """Pair up all values of this length by the key, and give the partner: never itself."""
        half = 4 * len(data)
        partner = self._feistel(self._feistel(int.from_bytes(data), half, 1) ^ 1, half, -1)
        return partner.to_bytes(len(data))

    def _feistel(self, value: int, half: int, direction: int) -> int:
        left, right = value >> half, value & ((1 << half) - 1)
        for turn in (0, 1, 2, 3)[::direction]:
            mixed = left if direction < 0 else right
            noise = self.digest("feistel", f"{half} {turn} {mixed}".encode(), 8)
            masked = int.from_bytes(noise) & ((1 << half) - 1)
            left, right = (right ^ masked, left) if direction < 0 else (right, left ^ masked)
        return left << half | right

    def ipv4(self, address: IPv4, prefix: int = 32) -> IPv4:
        """Another one of the same range; two with n leading bits alike still have them alike."""
        value = int(address)
        if address.is_loopback or value >> 28 >= 0xE or not value >> 24:
            return address
        return IPv4(self._within(self._v4, value, prefix, 32))

    def ipv6(self, address: IPv6, prefix: int = 128) -> IPv6:
        """The same; the last half stays that of the port's hardware address, where it was it."""
        value, data = int(address), address.packed
        if address.ipv4_mapped:
            return IPv6(b"\0" * 10 + b"\xff\xff" + self.ipv4(address.ipv4_mapped).packed)
        if address.is_multicast:
            # A solicited node's group has the last 24 bits of its address.
            solicited = data[:13] == IPv6("ff02::1:ff00:0").packed[:13]
            return IPv6(data[:13] + self._other(data[13:])) if solicited else address
        if value <= 1:
            return address
        mapped = IPv6(self._within(self._v6, value, prefix, 128)).packed
        if data[11:13] == b"\xff\xfe" and prefix > 64:
            mac = bytes([data[8] ^ 2]) + data[9:11] + data[13:]
            mac = self.octets(mac)
            mapped = mapped[:8] + bytes([mac[0] ^ 2]) + mac[1:3] + b"\xff\xfe" + mac[3:]
        return IPv6(mapped)

    @staticmethod
    def _within(prefixes: "_Prefixes", value: int, prefix: int, width: int) -> int:
        """Map it; a network stays one, with nothing behind its prefix."""
        mapped = prefixes.other(value)
        host = (1 << (width - prefix)) - 1
        return mapped & ~host if not value & host else mapped


class _Prefixes:
    """Flips each bit by the bits before it: n bits of the result depend on n bits alone.

    Xu, Fan, Ammar, Moon: Prefix-preserving IP address anonymization, ICNP 2002.
    """

    def __init__(
        self,
        addresses: Addresses,
        version: int,
        kept: "list[ipaddress.IPv4Network | ipaddress.IPv6Network]",
        width: int,
    ) -> None:
        self._addresses, self._version, self._width = addresses, version, width
        self._unit = 8 if width == 32 else 16
        self._kept = {
            (depth, int(net.network_address) >> (width - depth))
            for net in kept
            for depth in range(net.prefixlen)
        }
        self.other = lru_cache(maxsize=1 << 16)(self._map)

    def _map(self, value: int) -> int:
        width, mapped = self._width, 0
        for start in range(0, width, 8):
            before, byte = value >> (width - start), value >> (width - start - 8) & 0xFF
            # One digest for the 255 places of a byte: the flip of a bit is that of the bits before.
            data = f"{self._version} {start} {before}".encode()
            flips, node = int.from_bytes(self._addresses.digest("prefix", data, 32)), 1
            for depth in range(start, start + 8):
                bit = byte >> (start + 7 - depth) & 1
                is_kept = (depth, value >> (width - depth)) in self._kept
                # The last bit of each part between dots or colons always: no part stays as it was.
                is_last = depth % self._unit == self._unit - 1
                mapped = mapped << 1 | (bit if is_kept else bit ^ (is_last or flips >> node & 1))
                node = node << 1 | bit
        return mapped


def suffix(prefix: str | None) -> str:
    """Give the length of a prefix as it stands behind an address."""
    return "" if prefix is None else f"/{prefix}"


def is_mask(value: int) -> bool:
    """Tell a mask: 255.255.240.0 and the like: ones, then zeros."""
    inverted = value ^ 0xFFFFFFFF
    return value >> 24 == 0xFF and not inverted & (inverted + 1)


def without_serial(body: str, addresses: Addresses) -> str:
    """Give the bytes that `od -An -v -tx1` printed with another serial number, if they have one.

    Text that is not bytes is left out: its content is not known.
    """
    dump, newline, rest = body.partition("\n\n")
    try:
        data = bytearray(bytes.fromhex(dump.replace("\n", " ")))
    except ValueError:
        return "\n"
    at, seen = EXTENDED_START, 0
    while EXTENDED_START <= at <= len(data) - 4 and seen < MAX_CAPABILITIES:
        header = int.from_bytes(data[at : at + 4], "little")
        if header & 0xFFFF == SERIAL_CAPABILITY:
            serial = bytes(data[at + 4 : at + 12])
            data[at + 4 : at + 12] = bytes.fromhex(addresses.hexadecimal(serial.hex()))
        at, seen = header >> 20 & ~3, seen + 1
    lines = [data[n : n + BYTES_A_LINE].hex(" ") for n in range(0, len(data), BYTES_A_LINE)]
    return "".join(f" {line}\n" for line in lines).rstrip("\n") + newline + rest


def ipv6_parts(match: re.Match[str]) -> Iterator[tuple[str, ipaddress.IPv6Address, str]]:
    """Give what may be meant by digits and colons: an address, and what stands around it."""
    text, name = match[1], ""
    prior = match.string[match.start() - 1 : match.start()]
    if prior.isalnum() or prior == ".":
        name, text = text[: text.find(":") + 1], text[text.find(":") + 1 :]
    if text.count(":") < 2 or len(text) > LONGEST_IPV6:
        return
    first, last = text.split(":")[0], text.split(":")[-1]
    # An address may stand before a port, or behind a number.
    for before, part, after in (
        ("", text, ""),
        ("", text.removesuffix(f":{last}"), f":{last}"),
        (f"{first}:", text.removeprefix(f"{first}:"), ""),
    ):
        with suppress(ValueError):
            yield name + before, ipaddress.IPv6Address(part), after
