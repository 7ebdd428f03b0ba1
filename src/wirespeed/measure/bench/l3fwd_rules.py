"""Rule files for l3fwd that send all of the tester's flows back out of port 0. Pure.

l3fwd (`--rule_ipv4`, `--rule_ipv6`) takes lines that start with R; both files must hold at least
one. Frames that no rule matches also go back to their port, so a wrong rule would not show as
loss: the tests look the rules up instead.
"""

from wirespeed.measure.bench.flows import DESTINATION_NETWORK, flow_addresses
from wirespeed.model.error import InputError

MAX_EM_FLOWS = 8192
_UDP = 0x11
_PORT = 0

LPM_IPV6 = f"R2001:200::/48 {_PORT}\n"
EM_IPV6 = f"R2001:200::1 2001:200:: 9 9 {_UDP:#x} {_PORT}\n"
"""One each, from the benchmark network of RFC 5180, because none is refused."""


def lpm_ipv4() -> str:
    """256 routes of /24: all destinations of all flows, as l3fwd holds at most 1024 routes."""
    return "".join(f"R{net} {_PORT}\n" for net in DESTINATION_NETWORK.subnets(new_prefix=24))


def em_ipv4(flows: int) -> str:
    """One rule per flow: destination, source, destination port, source port, protocol, port.

    Raises InputError `l3fwd.flows` above MAX_EM_FLOWS.
    """
    if not 1 <= flows <= MAX_EM_FLOWS:
        raise InputError(
            "l3fwd.flows",
            where="l3fwd em",
            found=f"{flows} flows",
            so=f"exact match is set up for 1 to {MAX_EM_FLOWS} flows, one rule for each",
            next=f"at most {MAX_EM_FLOWS} flows, or l3fwd lpm, which takes any number",
        )
    rules = []
    for flow in range(flows):
        a = flow_addresses(flow)
        rules.append(
            f"R{a.destination} {a.source} {a.destination_port} {a.source_port} {_UDP:#x} {_PORT}\n"
        )
    return "".join(rules)
