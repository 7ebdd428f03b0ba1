"""Which packets the card forwarded by itself, and which the host's cores did. Pure, but the reader.

Open vSwitch says of each flow of its datapath where it is (`offloaded:yes`, `dp:tc`), and how often
it was hit. A filter that tc holds in hardware has counters of its own: `Sent hardware`. A VF's
representor counts twice: what the VF sent and got, by the card, and what went through the host's
cores (mlx5, en_rep.c: `vport_rep_stats_desc`, `sw_rep_stats_desc`).
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from wirespeed.host.runner import Completed, Runner
from wirespeed.measure.network.lease import said
from wirespeed.model.error import MeasurementError
from wirespeed.model.network_trial import FlowCounts, OffloadVerdict

FLOWS = ("ovs-appctl", "--timeout=10", "dpctl/dump-flows", "-m")
"""With `-m`, each flow tells its layer; without, none does (dpctl.c, format_dpif_flow)."""
OF_KERNEL, OF_USERSPACE = "system@ovs-system", "netdev@ovs-netdev"
"""Names of the datapaths (ofproto-dpif.c, open_dpif_backer). On a host that has both, the command
is refused without one (dpctl.c, get_one_dp: `multiple datapaths, specify one`)."""
HIT = re.compile(r"\bpackets:(\d{1,20})\b")
LAYER = re.compile(r", dp:([a-z]{1,16})\b")
SENT_HARDWARE = re.compile(r"^[ \t]*Sent hardware \d{1,20} bytes (\d{1,20}) pkts?\b", re.M)
COUNTER = re.compile(r"^[ \t]*([a-z_0-9]{1,64}): (\d{1,20})$", re.M)
POLLED = re.compile(r"^  (?:packets received|Rx packets): +(\d{1,20})(?:$| )", re.M)
"""From Open vSwitch 4.0 on, `pmd-stats-show` prints what `pmd-perf-show` does."""
READ_S = 60.0
LEAST_PACKETS = 10
"""Fewer say nothing: they may be a first packet, ARP and the like."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What grew on a host between two readings; None where there is no such counter."""

    vf_packets: int | None = None
    software_packets: int | None = None
    port_packets: int | None = None


@dataclass(frozen=True, slots=True)
class OffloadReading:
    """What a host said."""

    flows: FlowCounts
    tc_hardware_packets: int | None
    verdict: OffloadVerdict
    said: str


def read_offload(
    runner: Runner,
    host: str,
    netdevs: Sequence[str],
    macs: Collection[str] = (),
    counted: Counted | None = None,
) -> OffloadReading:
    """Read flows, and filters on the ingress of `netdevs`: the guests' ports, and the tunnels'.

    Without netdevs, flows of the userspace datapath. With `macs`, of flows between these alone.
    Raises MeasurementError `flows.unreadable`, and as `Runner.run` does.
    """
    asked = (*FLOWS, OF_KERNEL if netdevs else OF_USERSPACE)
    done = runner.run(asked, timeout_s=READ_S)
    if done.returncode:
        raise _unreadable(host, asked, done)
    packets = 0
    for netdev in netdevs:
        filters = ("tc", "-s", "filter", "show", "dev", netdev, "ingress")
        shown = runner.run(filters, timeout_s=READ_S)
        if shown.returncode:
            raise _unreadable(host, filters, shown)
        packets += hardware_packets(shown.output)
    flows = parse_flows(done.output, macs)
    return judge_offload(flows, packets if netdevs else None, counted or Counted())


def _unreadable(host: str, command: Sequence[str], done: Completed) -> MeasurementError:
    return MeasurementError(
        "flows.unreadable",
        where=host,
        found=f"{' '.join(command)}: {said(done)}",
        so="whether the card forwards the guests' packets is not known",
        next=f"on {host}, run that command as root and fix what it names; for ovs-appctl, Open "
        "vSwitch must run there",
    )


def parse_flows(text: str, macs: Collection[str] = ()) -> FlowCounts:
    """Count the flows that were hit, of a line each; headings of threads are none.

    With `macs`, only flows that name all of these.
    """
    offloaded = offloaded_packets = others = other_packets = 0
    layers = set()
    for line in text.splitlines():
        hit = HIT.search(line)
        packets = int(hit[1]) if hit else 0
        if not packets or not all(mac in line for mac in macs):
            continue
        layers.update(LAYER.findall(line))
        # `partial`: the card marks the packet, and a core forwards it.
        if ", offloaded:yes" in line:
            offloaded, offloaded_packets = offloaded + 1, offloaded_packets + packets
        else:
            others, other_packets = others + 1, other_packets + packets
    return FlowCounts(
        offloaded=offloaded,
        offloaded_packets=offloaded_packets,
        others=others,
        other_packets=other_packets,
        layers=tuple(sorted(layers)),
    )


def hardware_packets(text: str) -> int:
    """Add up what filters forwarded in hardware, by `tc -s filter show`.

    The last action of each filter counts: earlier ones (a tunnel's key) see the same packets.
    """
    filters = re.split(r"^filter ", text, flags=re.M)
    counts = [SENT_HARDWARE.findall(one) for one in filters]
    return sum(int(found[-1]) for found in counts if found)


def counters_of(text: str) -> dict[str, int]:
    """Read `ethtool -S`: lines of a name and a number."""
    return {name: int(count) for name, count in COUNTER.findall(text)}


def polled_packets(text: str) -> int | None:
    """Add up what all polling threads took, by `dpif-netdev/pmd-stats-show`; None: nothing polls.

    The main thread, which is shown among them, polls no port of DPDK.
    """
    counts = POLLED.findall(text)
    return sum(map(int, counts)) if counts else None


def judge_offload(
    flows: FlowCounts, tc_hardware_packets: int | None, counted: Counted
) -> OffloadReading:
    """Give the verdict: flows that say `offloaded` and were not hit in hardware prove nothing."""
    where = f" ({', '.join(flows.layers)})" if flows.layers else ""
    found = (
        f"{flows.offloaded} flows offloaded, {flows.offloaded_packets} packets; "
        f"{flows.others} not, {flows.other_packets} packets{where}"
    )
    if not flows.offloaded + flows.others:
        verdict, found = OffloadVerdict.CANNOT_TELL, "no flow was hit"
    elif not flows.offloaded:
        verdict = OffloadVerdict.IN_SOFTWARE
    elif "tc" in flows.layers and not tc_hardware_packets:
        verdict = OffloadVerdict.NOT_HIT
        found += "; but no filter of tc counts a packet in hardware"
    elif flows.other_packets > flows.offloaded_packets:
        verdict = OffloadVerdict.PARTLY
    else:
        # First packets, ARP and the like belong into software.
        verdict = OffloadVerdict.HIT
    verdict, borne_out = _held_against(verdict, counted)
    return OffloadReading(flows, tc_hardware_packets, verdict, found + borne_out)


def _held_against(verdict: OffloadVerdict, counted: Counted) -> tuple[OffloadVerdict, str]:
    """Hold what the switch says against what the card and the host's netdevs counted meanwhile."""
    of_vf, software = counted.vf_packets, counted.software_packets
    if software is None:
        return verdict, ""
    # Without a representor of the kernel, what was on the wire is all that can be held against it.
    whole = counted.port_packets if of_vf is None else of_vf
    if whole is None or whole < LEAST_PACKETS:
        return verdict, ""
    what = "on the wire" if of_vf is None else "of the VF"
    told = f"; meanwhile {software} packets in software, {whole} {what}"
    is_software = software * 2 > whole
    if verdict in (OffloadVerdict.HIT, OffloadVerdict.PARTLY) and is_software:
        return OffloadVerdict.NOT_HIT, told
    if verdict is OffloadVerdict.IN_SOFTWARE and not is_software:
        return OffloadVerdict.CANNOT_TELL, f"{told}: the two do not agree"
    return verdict, told
