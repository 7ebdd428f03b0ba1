"""The tester's flows, and rule files for l3fwd that send each stream out of its port. Pure.

l3fwd (`--rule_ipv4`, `--rule_ipv6`) takes lines that start with R; both files must hold at least
one. Frames that no rule matches also go back to their port, so a wrong rule would not show as
loss: the tests look the rules up instead.
"""

from ipaddress import IPv4Address, IPv4Network

from wirespeed.model.error import InputError
from wirespeed.model.frozen import Frozen

MAX_EM_FLOWS = 8192
_UDP = 0x11
_PORT = 0
LPM_IPV6 = f"R2001:200::/48 {_PORT}\n"
EM_IPV6 = f"R2001:200::1 2001:200:: 9 9 {_UDP:#x} {_PORT}\n"
"""One each, from the benchmark network of RFC 5180, because none is refused."""
MAX_FLOWS = 1 << 24
SOURCE_NETWORK = IPv4Network("198.18.0.0/16")
DESTINATION_NETWORK = IPv4Network("198.19.0.0/16")
"""Together 198.18.0.0/15: set aside for benchmarks by RFC 2544 appendix C.2.2 and RFC 5735."""
NETWORKS = (DESTINATION_NETWORK, SOURCE_NETWORK)
"""That the tester's first and second stream go to: frame_write in tester/frame.c."""


def lpm_ipv4(*ports: int) -> str:
    """256 routes of /24 out of the port that each stream leaves by; l3fwd holds at most 1024.

    Raises ValueError for more than two.
    """
    if len(ports) > len(NETWORKS):
        raise ValueError(f"routes for {len(ports)} streams, which go to two networks")
    lines = []
    for network, port in zip(NETWORKS, ports or (_PORT,), strict=False):
        lines += [f"R{part} {port}\n" for part in network.subnets(new_prefix=24)]
    return "".join(lines)


def em_ipv4(flows: int, port: int = _PORT) -> str:
    """One rule per flow: destination, source, destination port, source port, protocol, port.

    Raises InputError `l3fwd.flows` above MAX_EM_FLOWS.
    """
    if not 1 <= flows <= MAX_EM_FLOWS:
        raise InputError(
            "l3fwd.flows",
            where="l3fwd em",
            found=f"{flows} flows",
            so=f"exact match is set up for 1 to {MAX_EM_FLOWS} flows, one rule for each",
            next=f"give at most {MAX_EM_FLOWS} flows, or use l3fwd lpm, which takes any number",
        )
    rules = []
    for flow in range(flows):
        a = flow_addresses(flow)
        rules.append(
            f"R{a.destination} {a.source} {a.destination_port} {a.source_port} {_UDP:#x} {port}\n"
        )
    return "".join(rules)


class FlowAddresses(Frozen):
    """The 5-tuple of a flow; the protocol is UDP."""

    source: IPv4Address
    destination: IPv4Address
    source_port: int
    destination_port: int


def flow_addresses(flow: int) -> FlowAddresses:
    """Addresses of flow number `flow` of the first stream: 16 bits in each address, 8 in each port.

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
