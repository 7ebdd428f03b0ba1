"""Racks of recorded hosts: one described host, its names and addresses varied by number. Pure.

The same number gives the same text.
"""

import re
from collections.abc import Iterator

MAC = re.compile(r"\b(?:[0-9a-f]{2}:){3}(?:[0-9a-f]{2}:){2}[0-9a-f]{2}\b")
IPV4 = re.compile(r"\b(?:10|172|192)(?:\.\d{1,3}){3}\b")
HOSTNAME = re.compile(r"^hostname \S+$", re.M)
PORTS = ("0000:03:00.0", "0000:03:00.1")
NETWORKS = {"storage": (42, "10.42.0.0/16", 9000), "public": (40, "10.40.0.0/16", 1500)}
GUESTS = (("ceph", "namespace", ("storage",)), ("gpu", "none", ("storage", "public")))
"""Of each host: name, kind, networks."""


def varied(text: str, number: int) -> str:
    """Make another host of a capture: its name, MAC addresses and private IPv4 addresses."""

    def mac(match: re.Match[str]) -> str:
        octets = match[0].split(":")
        if len(set(octets)) == 1:
            return match[0]
        return ":".join((*octets[:3], f"{number >> 8 & 255:02x}", f"{number & 255:02x}", octets[5]))

    def ipv4(match: re.Match[str]) -> str:
        first, _, _, last = match[0].split(".")
        return f"{first}.{number >> 8 & 255}.{number & 255}.{last}"

    named = HOSTNAME.sub(f"hostname {name_of(number)}", text)
    return IPV4.sub(ipv4, MAC.sub(mac, named))


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
