"""A subnet as a spec writes it, and those that no host may be given an address of."""

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

FORM = re.compile(r"[0-9a-fA-F:.]+/(0|[1-9][0-9]{0,2})")
RESERVED = {
    "addresses of this host itself": ("0.0.0.0/8",),
    "loopback": ("127.0.0.0/8",),
    "multicast": ("224.0.0.0/4", "ff00::/8"),
    "reserved": ("240.0.0.0/4", "::/8"),
}
"""IANA's special-purpose address registries; ::/8 has the unspecified address, loopback and IPv4's
addresses (RFC 4291, section 2.4)."""
LINK_LOCAL = ("169.254.0.0/16", "fe80::/10")
"""Hosts give themselves addresses of these, so another may take ours (RFC 3927, section 1.6)."""


def _form(value: object) -> object:
    """Refuse what ipaddress would take too: a number, a mask, an address alone."""
    if isinstance(value, IPv4Network | IPv6Network):
        return value
    if not isinstance(value, str) or not FORM.fullmatch(value):
        raise PydanticCustomError("subnet_form", "no address and length")
    return value


def _parsed(value: object) -> object:
    """Say of either version what is wrong, once."""
    text = _form(value)
    try:
        return ip_network(text) if isinstance(text, str) else text
    except ValueError as error:
        raise PydanticCustomError("subnet_value", "{why}", {"why": str(error)}) from None


Ipv4Subnet = Annotated[IPv4Network, BeforeValidator(_form)]
Subnet = Annotated[IPv4Network | IPv6Network, BeforeValidator(_parsed)]


def unusable(subnet: IPv4Network | IPv6Network, *, assigned: bool = True) -> str:
    """Say which special range a subnet overlaps, or nothing; `assigned`: we give the addresses."""
    ranges = RESERVED | ({"link-local": LINK_LOCAL} if assigned else {})
    for kind, blocks in ranges.items():
        for block in map(ip_network, blocks):
            if block.version == subnet.version and subnet.overlaps(block):
                return f"{kind} ({block})"
    return ""
