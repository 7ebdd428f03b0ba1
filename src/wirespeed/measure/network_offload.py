"""Which packets the card forwarded by itself, and which the host's cores did. Read after traffic.

Open vSwitch says of each flow of its datapath where it is (`offloaded:yes`, `dp:tc`), and how often
it was hit. A filter that tc holds in hardware has counters of its own: `Sent hardware`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from wirespeed.host.runner import Runner
from wirespeed.measure.network_lease import said
from wirespeed.model.error import MeasurementError

FLOWS = ("ovs-appctl", "--timeout=10", "dpctl/dump-flows", "-m")
"""With `-m`, each flow tells its layer; without, none does (dpctl.c, format_dpif_flow)."""
HIT = re.compile(r"\bpackets:(\d{1,20})\b")
LAYER = re.compile(r", dp:([a-z]{1,16})\b")
SENT_HARDWARE = re.compile(r"^\s*Sent hardware \d{1,20} bytes (\d{1,20}) pkts?\b", re.M)
READ_S = 60.0


class OffloadVerdict(StrEnum):
    """Where the traffic went."""

    IN_HARDWARE = "in hardware"
    PARTLY = "partly in hardware"
    IN_SOFTWARE = "in software here"
    NOT_SHOWN = "not shown"
    """No flow was hit: there was no traffic, or it is too long ago."""


@dataclass(frozen=True, slots=True)
class FlowCounts:
    """Flows that were hit since they are there, and their packets."""

    offloaded: int = 0
    offloaded_packets: int = 0
    others: int = 0
    other_packets: int = 0
    layers: tuple[str, ...] = ()
    """Where they are: `tc`, `ovs` (the kernel's module), `dpdk`."""


@dataclass(frozen=True, slots=True)
class OffloadReading:
    """What a host said."""

    flows: FlowCounts
    tc_hardware_packets: int
    verdict: OffloadVerdict
    said: str


def read_offload(runner: Runner, host: str, netdevs: Sequence[str]) -> OffloadReading:
    """Read flows, and filters on the ingress of `netdevs`: the guests' ports, and the tunnels'.

    Raises MeasurementError `flows.unreadable`, and as `Runner.run` does.
    """
    done = runner.run(FLOWS, timeout_s=READ_S)
    if done.returncode:
        raise MeasurementError("flows.unreadable", where=host, found=said(done))
    packets = 0
    for netdev in netdevs:
        shown = runner.run(
            ("tc", "-s", "filter", "show", "dev", netdev, "ingress"), timeout_s=READ_S
        )
        if shown.returncode:
            raise MeasurementError(
                "flows.unreadable", where=f"{netdev} on {host}", found=said(shown)
            )
        packets += hardware_packets(shown.output)
    return judge_offload(parse_flows(done.output), packets)


def parse_flows(text: str) -> FlowCounts:
    """Count the flows that were hit, of a line each; headings of threads are none."""
    offloaded = offloaded_packets = others = other_packets = 0
    layers = set()
    for line in text.splitlines():
        hit = HIT.search(line)
        packets = int(hit[1]) if hit else 0
        if not packets:
            continue
        layers.update(LAYER.findall(line))
        # `partial`: the card marks the packet, and a core forwards it.
        if ", offloaded:yes" in line:
            offloaded, offloaded_packets = offloaded + 1, offloaded_packets + packets
        else:
            others, other_packets = others + 1, other_packets + packets
    return FlowCounts(offloaded, offloaded_packets, others, other_packets, tuple(sorted(layers)))


def hardware_packets(text: str) -> int:
    """Add up what filters forwarded in hardware, by `tc -s filter show`.

    The last action of each filter counts: earlier ones (a tunnel's key) see the same packets.
    """
    filters = re.split(r"^filter ", text, flags=re.M)
    counts = [SENT_HARDWARE.findall(one) for one in filters]
    return sum(int(found[-1]) for found in counts if found)


def judge_offload(flows: FlowCounts, tc_hardware_packets: int) -> OffloadReading:
    """Give the verdict: flows that say `offloaded` and were not hit in hardware prove nothing."""
    where = f" ({', '.join(flows.layers)})" if flows.layers else ""
    found = (
        f"{flows.offloaded} flows offloaded, {flows.offloaded_packets} packets; "
        f"{flows.others} not, {flows.other_packets} packets{where}"
    )
    if not flows.offloaded + flows.others:
        verdict, found = OffloadVerdict.NOT_SHOWN, "no flow was hit"
    elif not flows.offloaded:
        verdict = OffloadVerdict.IN_SOFTWARE
    elif "tc" in flows.layers and not tc_hardware_packets:
        verdict = OffloadVerdict.IN_SOFTWARE
        found += "; but no filter of tc counts a packet in hardware"
    elif flows.other_packets > flows.offloaded_packets:
        verdict = OffloadVerdict.PARTLY
    else:
        # First packets, ARP and the like belong into software.
        verdict = OffloadVerdict.IN_HARDWARE
    return OffloadReading(flows, tc_hardware_packets, verdict, found)
