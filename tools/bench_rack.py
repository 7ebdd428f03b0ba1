"""Racks of recorded hosts: one described host, its names and addresses varied by number. Pure.

The same number gives the same text.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

VARIED = re.compile(
    r"(?P<mac>\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b)|(?P<ipv4>\b(?:10|172|192)(?:\.\d{1,3}){3}\b)"
    r"|(?P<name>^hostname \S+$)",
    re.M,
)
PORTS = ("0000:03:00.0", "0000:03:00.1")
NETWORKS = {"storage": (42, "10.42.0.0/16", 9000), "public": (40, "10.40.0.0/16", 1500)}
GUESTS = (("ceph", "namespace", ("storage",)), ("gpu", "none", ("storage", "public")))
"""Of each host: name, kind, networks."""


def varied(text: str, number: int) -> str:
    """Make another host of a capture: its name, MAC addresses and private IPv4 addresses."""
    high, low = number >> 8 & 255, number & 255
    values = (f"{high:02x}:{low:02x}", f"{high}.{low}", f"hostname {name_of(number)}")
    return "".join(values[piece] if isinstance(piece, int) else piece for piece in _pieces(text))


@lru_cache(maxsize=2)
def _pieces(text: str) -> tuple[str | int, ...]:
    """Cut a text at what varies: 0 two octets of a MAC address, 1 of an IPv4 address, 2 a name."""
    pieces: list[str | int] = []
    end = 0
    for match in VARIED.finditer(text):
        pieces.append(text[end : match.start()])
        end = match.end()
        if match.lastgroup == "mac":
            octets = match[0].split(":")
            alike = len(set(octets)) == 1
            pieces += [match[0]] if alike else [":".join(octets[:3]) + ":", 0, ":" + octets[5]]
        elif match.lastgroup == "ipv4":
            first, _, _, last = match[0].split(".")
            pieces += [first + ".", 1, "." + last]
        else:
            pieces.append(2)
    return (*pieces, text[end:])


def name_of(number: int) -> str:
    """Name of a host, in the spec and in its own words."""
    return f"host-{number:04}"


def spec_text(reaches: list[str]) -> str:
    """A spec of as many hosts, each with two guests; `reaches` are their captures."""
    return "\n".join((*_lines(reaches), ""))


def _lines(reaches: list[str]) -> Iterator[str]:
    ports = ", ".join(f'"{address}"' for address in PORTS)
    yield "hosts:"
    for number, reach in enumerate(reaches):
        yield f"  {name_of(number)}: {{reach: {reach}, ports: [{ports}]}}"
    yield "approach: legacy-vlan"
    yield "failover: active-backup"
    yield "underlay: {subnet: 10.9.0.0/16, mtu: 9080}"
    yield "networks:"
    for network, (segment, subnet, mtu) in NETWORKS.items():
        yield f"  {network}: {{segment: {segment}, subnet: {subnet}, mtu: {mtu}}}"
    yield "guests:"
    for number in range(len(reaches)):
        for guest, kind, networks in GUESTS:
            has = ", ".join(networks)
            host = name_of(number)
            yield f"  {guest}-{number}: {{host: {host}, kind: {kind}, networks: [{has}]}}"
