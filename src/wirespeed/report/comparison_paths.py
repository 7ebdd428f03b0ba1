"""What the wire leaves of each approach, and what a core does of it: ceilings and RFC 2544."""

from dataclasses import dataclass, replace

from wirespeed.ceilings.encapsulation import added_bytes, encapsulation_ceiling
from wirespeed.ceilings.ethernet import WIRES
from wirespeed.ceilings.tcp import TCP_TIMESTAMP_BYTES, goodput_bps, tcp_payload_bytes
from wirespeed.measure.network.summary import Iperf3Cell
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import Diagnosis
from wirespeed.model.spec.networks import Failover
from wirespeed.model.spec.spec import Spec
from wirespeed.model.trial import Outcome
from wirespeed.model.units import line_rate_pps
from wirespeed.report import format as fmt
from wirespeed.report.comparison import Comparison
from wirespeed.report.comparison_features import traits_of
from wirespeed.report.grid import Cell, Grid, Notes, columns, text
from wirespeed.report.page import NOT_PROVEN, Missing
from wirespeed.report.proof_answer import emulated_hosts
from wirespeed.report.proof_page import Proof
from wirespeed.report.proof_tables import limit_of
from wirespeed.report.result import why_unproven

PUBLISHED_LINK_BPS = 100 * 10**9
"""Of the two hosts of the published table; taken where no port of these hosts has a known link."""
FRAME_BYTES = (64, 1518)
FULL = 0.95
"""Of what the link leaves for payload: above it, the link is the limit."""
FRAME_HEADERS_BYTES = 18
"""Ethernet's 14 and the FCS: what an MTU does not count (IEEE 802.3)."""
NOT_COME_TO = "it was not come to"


@dataclass(frozen=True)
class Link:
    """The slowest of the hosts' ports, or what is assumed."""

    bps: int
    """Of one port."""
    source: str
    is_assumed: bool = False
    ports: int = 1
    """That carry flows at the same time; a flow goes over one of them."""


def link_of(proofs: tuple[Proof, ...]) -> Link:
    """Give what the doctor knows of the ports' links."""
    ports = min((_ports_at_once(proof.opening.spec) for proof in proofs), default=1)
    found = [
        round(ceiling.load_bps_l1.low)
        for proof in proofs
        for answer in proof.found
        if isinstance(answer, Diagnosis)
        for ledger in answer.ledgers
        for ceiling in ledger.ceilings
        if ceiling.element in WIRES
    ]
    if not found:
        source = "assumed, as the published hosts have"
        return Link(PUBLISHED_LINK_BPS, source, is_assumed=True, ports=ports)
    return Link(min(found), "the slowest port of these hosts", ports=ports)


def _ports_at_once(spec: Spec) -> int:
    if spec.failover is not Failover.LACP:
        return 1
    return min(len(host.ports) for host in spec.hosts.values())


def frames_ceiling_pps(spec: Spec, approach: str, link: Link, frame_bytes: int) -> float:
    """Frames per second that one port carries, each with what the approach adds."""
    kind, version = traits_of(approach).encapsulation(spec)
    return encapsulation_ceiling(
        link.bps, frame_bytes, kind, Direction.TRANSMIT, link.source, ip_version=version
    ).load_pps.high


def payload_ceiling_bps(spec: Spec, approach: str, link: Link, mtu: int) -> float:
    """TCP payload that all ports carry one way, in full frames of a guest's `mtu`."""
    frame_bytes = mtu + FRAME_HEADERS_BYTES
    load_pps = link.ports * frames_ceiling_pps(spec, approach, link, frame_bytes)
    return goodput_bps(load_pps, frame_bytes)


def cell_limit(proof: Proof, cell: Iperf3Cell, link: Link) -> str:
    """Say what limited a cell of iperf3, also by the link's ceiling."""
    is_emulated = bool(emulated_hosts(proof))
    said = limit_of(cell, emulated=is_emulated)
    if is_emulated or link.is_assumed or cell.bps is None:
        return said
    used = replace(link, ports=min(link.ports, cell.streams))
    most = payload_ceiling_bps(proof.opening.spec, proof.opening.spec.approach, used, cell.mtu)
    share = cell.bps.median / most
    shown = f"{100 * share:.0f} % of the {fmt.significant(most / 1e9, 3)} Gb/s that the link leaves"
    if share > _without_time_stamps(cell.mtu):
        return f"a contradiction: {shown}"
    if share > 1:
        shown += " to TCP with time stamps"
    return f"the link: {shown}" if share >= FULL else f"{said}; {shown}"


def _without_time_stamps(mtu: int) -> float:
    """Give how many times as much a guest's full frames carry where TCP has no time stamps."""
    payload = tcp_payload_bytes(mtu + FRAME_HEADERS_BYTES)
    return (payload + TCP_TIMESTAMP_BYTES) / payload


def ceilings_grid(comparison: Comparison) -> Grid:
    """What the link leaves for frames and payload, once each has what an approach adds."""
    spec, link = comparison.spec, link_of(comparison.proofs)
    mtus = spec.measure.iperf3.mtu
    rows = []
    for name in comparison.names:
        kind, version = traits_of(name).encapsulation(spec)
        payload = [payload_ceiling_bps(spec, name, link, mtu) / 1e9 for mtu in mtus]
        frames = [link.ports * frames_ceiling_pps(spec, name, link, s) for s in FRAME_BYTES]
        rows.append(
            text(
                str(name),
                f"{kind}, {added_bytes(kind, version)} B",
                *(fmt.significant(gbps, 3) for gbps in payload),
                *map(fmt.mpps, frames),
            )
        )
    wires = f"{link.ports} x " if link.ports > 1 else ""
    wires += f"{link.bps / 1e9:g} Gb/s ({link.source})"
    return Grid(
        title="What the wire leaves",
        caption=(
            f"At {wires}, one way: TCP payload in full frames, and frames of guests. "
            "Nothing measured can lie above it, but for TCP without time stamps: 12 bytes a frame."
        ),
        columns=columns(
            "Approach", "Added to a frame",
            *(f"MTU {mtu} (Gb/s)" for mtu in mtus), *(f"{size} B (Mpps)" for size in FRAME_BYTES),
            words=["Approach", "Added to a frame"],
        ),
        rows=tuple(rows),
        narrow="turned",
    )  # fmt: skip


def rfc2544_grid(comparison: Comparison) -> Grid:
    """Zero-loss throughput of the approaches' software paths, and the core's cycles a packet."""
    notes = Notes()
    link = link_of(comparison.proofs)
    rows: list[tuple[Cell, ...]] = []
    for name in comparison.names:
        own = [
            outcome
            for dut in traits_of(name).software_paths
            for outcome in comparison.rfc2544.outcomes
            if outcome.dut == dut
        ]
        rows += [_path_row(comparison.spec, name, outcome, link, notes) for outcome in own]
        said = comparison.rfc2544.why_not.get(name, "")
        why = traits_of(name).no_path or f"not measured: {said or NOT_COME_TO}"
        if not own or said:
            rows.append((*text(str(name), *["—"] * 5), Cell(text=why, tone="missing")))
    return Grid(
        title="RFC 2544 through each path",
        caption=(
            "Measured on the machine where wirespeed runs, not on the hosts: one core, no loss, "
            "the tester's frames inside the tunnel. Ceiling: what one port leaves. kernel-vxlan is "
            "what ovs-tc takes where the card takes no flows, but for the lookup: that of Linux's "
            "own bridge is in the place of Open vSwitch's."
        ),
        columns=columns(
            "Approach", "DUT", "Frame (B)", "Mpps", "Cycles a packet", "Ceiling (Mpps)",
            "Limited by", words=["Approach", "DUT"], wraps=["Limited by"],
        ),
        rows=tuple(rows),
        notes=notes.all,
        narrow="list",
    )  # fmt: skip


def _path_row(
    spec: Spec, name: str, outcome: Outcome, link: Link, notes: Notes
) -> tuple[Cell, ...]:
    throughput = outcome.throughput_pps
    unproven = Missing(reason=why_unproven(outcome), shown=NOT_PROVEN)
    cycles = outcome.busy_cycles_per_packet
    uncounted = Missing(reason="neither the DUT counted cycles nor a trial overloaded it")
    shares = outcome.mix.shares
    ceiling: float | Missing = Missing(reason="a mix: see its sizes")
    if len(shares) == 1:
        size = shares[0].frame_bytes
        is_tunnelled = outcome.dut.endswith("-vxlan")
        ceiling = (
            frames_ceiling_pps(spec, name, link, size)
            if is_tunnelled
            else float(line_rate_pps(link.bps, size))
        )
    return (
        *text(str(name), outcome.dut, outcome.mix.label),
        notes.cell(unproven if throughput is None else throughput, fmt.mpps),
        notes.cell(uncounted if cycles is None else cycles, lambda value: f"{value:,.0f}"),
        notes.cell(ceiling, fmt.mpps),
        Cell(text=f"{outcome.limit.by}: {'; '.join(outcome.limit.evidence)}"),
    )
