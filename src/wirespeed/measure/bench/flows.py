"""The addresses of the tester's flows, for whoever must know them (routes, rules). Pure.

The tester decides them; tester/frame.h is the other place that says so.
"""

from ipaddress import IPv4Address, IPv4Network

from wirespeed.model.frozen import Frozen

MAX_FLOWS = 1 << 24
SOURCE_NETWORK = IPv4Network("198.18.0.0/16")
DESTINATION_NETWORK = IPv4Network("198.19.0.0/16")
"""Together 198.18.0.0/15: set aside for benchmarks by RFC 2544 appendix C.2.2 and RFC 5735."""


class FlowAddresses(Frozen):
    """The 5-tuple of a flow; the protocol is UDP."""

    source: IPv4Address
    destination: IPv4Address
    source_port: int
    destination_port: int


def flow_addresses(flow: int) -> FlowAddresses:
    """Addresses of flow number `flow`: 16 bits of it in each address, 8 more in each port.

    The destination holds the complement, so that the sum of both, and with it the IPv4 checksum,
    is the same for all flows.
    """
    if not 0 <= flow < MAX_FLOWS:
        raise ValueError(f"flow {flow} does not fit in 24 bits")
    low, high = flow & 0xFFFF, flow >> 16
    return FlowAddresses(
        source=SOURCE_NETWORK[low],
        destination=DESTINATION_NETWORK[~low & 0xFFFF],
        source_port=0xC000 | high,
        destination_port=0xD000 | high,
    )
