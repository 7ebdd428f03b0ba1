"""The tables of a proof: what was measured between guests. The same for HTML and Markdown."""

from collections.abc import Sequence

from wirespeed.measure.network.summary import Iperf3Cell, PingCell
from wirespeed.model.network_trial import (
    FailoverTrial,
    FailoverVerdict,
    ForgedKind,
    IsolationTrial,
    IsolationVerdict,
    Pair,
    streams_share_a_thread,
)
from wirespeed.model.spread import Spread
from wirespeed.report import format as fmt
from wirespeed.report.grid import Cell as Box
from wirespeed.report.grid import Column, Grid, Notes, columns, text
from wirespeed.report.page import NOT_PROVEN, Missing
from wirespeed.report.proof_answer import emulated_hosts
from wirespeed.report.proof_page import Proof
from wirespeed.report.published import SOURCE, published_rows

PUBLISHED_CELLS = ((1500, 2), (9000, 2), (9000, 6))
"""MTU and streams: the columns of the published table, in its order."""
FIGURES = (
    *(f"iperf3/{mtu}/{streams} (Gb/s)" for mtu, streams in PUBLISHED_CELLS),
    *("ping mean (us)", "ping mdev (us)"),
)
"""Its columns' headings."""
NOT_MEASURED = Missing(reason="not measured: not asked for, or above the network's MTU")
BUSY_PERCENT = 95.0
"""Of one core: iperf3 that used so much had no more to give."""
ONE_THREAD_PERCENT = 110.0
"""No thread uses more than a core, but for the error of its clocks. The version is the client's:
the server may have a later one, with more threads."""


def named(pair: Pair) -> str:
    """`ceph-1 and gpu-1 in storage`."""
    return f"{pair.client} and {pair.server} in {pair.network}"


def result_grid(*proofs: Proof) -> Grid:
    """Give the published table's own columns: these runs' rows first, then the published ones."""
    notes = Notes()
    rows = [_result_row(proof, pair, notes) for proof in proofs for pair in proof.pairs]
    note = notes.number(f"published, and of other machines: {SOURCE}")
    for one in published_rows():
        head = Box(text=f"published: {one.approach}", note=note, tone="missing")
        rows.append((head, *(Box(text=figure, tone="missing") for figure in one.figures)))
    return Grid(
        title="Medians",
        caption="iperf3/MTU/streams counts TCP payload; n and spread are below.",
        columns=columns("Approach", *FIGURES, wraps=["Approach"]),
        rows=tuple(rows),
        notes=notes.all,
        narrow="turned",
    )


def _result_row(proof: Proof, pair: Pair, notes: Notes) -> tuple[Box, ...]:
    head = Box(text=f"{proof.opening.spec.approach}: {named(pair)}")
    return (head, *figure_cells(medians_of(proof, pair), notes))


def figure_cells(figures: Sequence[float | Missing], notes: Notes) -> list[Box]:
    """Give the cells of one row of the published table."""
    shows = (*[_gbps] * len(PUBLISHED_CELLS), _us, _us)
    return [notes.cell(value, show) for value, show in zip(figures, shows, strict=True)]


def _gbps(bps: float) -> str:
    return fmt.significant(bps / 1e9, 3)


def _us(us: float) -> str:
    return fmt.significant(us, 3)


def medians_of(proof: Proof, pair: Pair) -> list[float | Missing]:
    """Give the figures of one row of the published table: bits a second, then microseconds."""
    own = {(cell.mtu, cell.streams): cell for cell in proof.summary.iperf3 if cell.pair == pair}
    ping = next((p for p in proof.summary.pings if p.pair == pair), None)
    return [*(_median(own.get(key)) for key in PUBLISHED_CELLS), *_ping_medians(ping)]


def spread_grid(proof: Proof) -> Grid:
    """Every figure with its n, its spread, and its limit if that is known."""
    emulated = bool(emulated_hosts(proof))
    notes = Notes()
    rows = []
    for c in proof.summary.iperf3:
        limit = Box(text=_limit(c, emulated=emulated))
        rows.append(
            (*_spread_row(f"{c.name} (Gb/s)", c.pair, c.bps, 1e9, _failed(c, notes)), limit)
        )
    for p in proof.summary.pings:
        failed = _failed(p, notes)
        lost = Box(text=f"{fmt.count(p.lost)} of {fmt.count(p.sent)} not answered")
        rows.append((*_spread_row("ping mean (us)", p.pair, p.mean_us, 1, failed), lost))
        rows.append((*_spread_row("ping mdev (us)", p.pair, p.mdev_us, 1, failed), Box(text="")))
    return Grid(
        title="n and spread",
        caption="Of iperf3 each direction of each run is one value; of ping each run is one.",
        columns=columns(
            "Figure", "Between", "n", "Median", "Least", "Most", "Limited by",
            words=["Figure", "Between"], wraps=["Limited by"],
        ),
        rows=tuple(rows),
        notes=notes.all,
        empty="Nothing was measured between guests.",
    )  # fmt: skip


def _spread_row(
    figure: str, pair: Pair, found: Spread | None, unit: float, failed: int | None
) -> tuple[Box, ...]:
    if found is None:
        nothing = Box(text=NOT_PROVEN, note=failed, tone="alarm")
        return (*text(figure, named(pair), "0"), nothing, *text("—", "—"))
    figures = [fmt.significant(v / unit, 3) for v in (found.median, found.least, found.most)]
    return (
        *text(figure, named(pair)),
        Box(text=str(found.n), note=failed, tone="alarm" if failed else "plain"),
        *text(*figures),
    )


def _failed(cell: Iperf3Cell | PingCell, notes: Notes) -> int | None:
    reasons = "; ".join(dict.fromkeys(cell.failed))
    return notes.number(f"runs that failed: {reasons}") if reasons else None


def limit_of(cell: Iperf3Cell, *, emulated: bool) -> str:
    """Say what limited it, if that is known."""
    if emulated:
        return "emulated CPUs: says nothing about hardware"
    used = [s.most for s in (cell.client_cpu_percent, cell.server_cpu_percent) if s is not None]
    most = max(used, default=0.0)
    if most < BUSY_PERCENT:
        return f"cannot tell: iperf3 used {most:.0f} % of a core"
    if _sends_in_one_thread(cell) and most < ONE_THREAD_PERCENT:
        return f"a core: iperf3 used {most:.0f} % of one"
    return f"cannot tell: all threads of iperf3 used {most:.0f} % of a core"


def _sends_in_one_thread(cell: Iperf3Cell) -> bool:
    """Tell whether the processor time that iperf3 reports is of a single core."""
    if cell.streams == 1 and not cell.bidirectional:
        return True
    return bool(cell.versions) and all(map(streams_share_a_thread, cell.versions))


def _limit(cell: Iperf3Cell, *, emulated: bool) -> str:
    """Say what limited it, and what it cost the hosts."""
    costs = [
        f"{host} {fmt.significant(spread.median, 2)}"
        for host, spread in cell.host_cores_per_gbps.items()
    ]
    cost = f"; cores for each Gb/s: {', '.join(costs)}" if costs else ""
    return limit_of(cell, emulated=emulated) + cost


def _median(cell: Iperf3Cell | None) -> float | Missing:
    if cell is None:
        return NOT_MEASURED
    if cell.bps is None:
        return Missing(reason=f"every run failed: {'; '.join(cell.failed)}", shown=NOT_PROVEN)
    return cell.bps.median


def _ping_medians(ping: PingCell | None) -> tuple[float | Missing, float | Missing]:
    if ping is None:
        return NOT_MEASURED, NOT_MEASURED
    none = Missing(reason=f"no run counts: {'; '.join(ping.failed)}", shown=NOT_PROVEN)
    mean, mdev = ping.mean_us, ping.mdev_us
    return (none if mean is None else mean.median), (none if mdev is None else mdev.median)


def failover_grid(proof: Proof) -> Grid:
    """Each port that was taken away, and what became of the flow."""
    rows = [_failover_row(trial) for trial in proof.summary.failovers]
    loads = sorted({trial.load_pps for trial in proof.summary.failovers})
    finest = ", ".join(f"{1000 / load:g} ms" for load in loads)
    return Grid(
        title="A port is lost, and comes back",
        caption="Outage: longest time without a packet of a paced flow"
        + (f"; resolution {finest}." if finest else "."),
        columns=columns(
            "Port lost", "Between", "Outage (ms)", "On return (ms)", "Lost", "Sent", "Carried by",
            "Verdict", words=["Between"], wraps=["Port lost", "Carried by", "Verdict"],
        ),
        rows=tuple(rows),
        empty="No port was taken away.",
    )  # fmt: skip


def _outage(trial: FailoverTrial, ms: float | None) -> str:
    return fmt.milliseconds(ms, trial.load_pps) if trial.is_measured and ms is not None else "—"


def _packets(trial: FailoverTrial, packets: int | None) -> str:
    return fmt.count(packets) if trial.is_measured and packets is not None else "—"


def _failover_row(trial: FailoverTrial) -> tuple[Box, ...]:
    good = trial.verdict is FailoverVerdict.SURVIVED
    carriers = (trial.carried_before, trial.carried_during, trial.carried_after)
    carried = " → ".join(one or "?" for one in carriers) if trial.is_measured else "—"
    said = trial.verdict + (f": {trial.said}" if trial.said and not good else "")
    return (
        *text(f"{trial.host} {trial.port}, {trial.how}", named(trial.pair)),
        *text(*(_outage(trial, ms) for ms in (trial.outage_ms, trial.return_outage_ms))),
        *text(*(_packets(trial, n) for n in (trial.lost_packets, trial.offered_packets))),
        *text(carried),
        Box(text=said, tone="plain" if good else "alarm"),
    )


def isolation_grid(proof: Proof) -> Grid:
    """Who sent to whom, and what arrived of each kind of forged frame: rows are the pairs."""
    rows = [r for r in proof.summary.isolation if r.sender_network != r.receiver_network]
    tried = {trial.forged for row in rows for trial in row.trials}
    kinds = [kind for kind in ForgedKind if kind in tried]
    notes = Notes()
    return Grid(
        title="From each guest to each",
        caption="Arrived / sent.",
        columns=(
            Column(heading="From → to", figures=False),
            *(Column(heading=kind.value) for kind in kinds),
        ),
        rows=tuple(
            (
                Box(
                    text=f"{row.sender} ({row.sender_network}) → "
                    f"{row.receiver} ({row.receiver_network})"
                ),
                *(
                    _isolation_box(next((t for t in row.trials if t.forged is kind), None), notes)
                    for kind in kinds
                ),
            )
            for row in rows
        ),
        notes=notes.all,
        look="quiet",
        narrow="left out",
    )


def spoof_grid(proof: Proof) -> Grid:
    """Guests that sent with another's address in their network although the card checks that."""
    rows = [r for r in proof.summary.isolation if r.sender_network == r.receiver_network]
    return Grid(
        title="Within one network: sent with a forged source",
        caption="Tried where the card says that it checks the source of what a VF sends.",
        columns=columns("From → to", "Arrived / sent", "Verdict", words=["Verdict"]),
        rows=tuple(
            text(
                f"{row.sender} → {row.receiver} in {row.sender_network}",
                f"{fmt.count(trial.arrived)} / {fmt.count(trial.sent)}",
                trial.verdict,
            )
            for row in rows
            for trial in row.trials
        ),
    )


def _isolation_box(trial: IsolationTrial | None, notes: Notes) -> Box:
    if trial is None:
        return Box(text="—", note=notes.number("not tried"), tone="missing")
    counts = f"{fmt.count(trial.arrived)} / {fmt.count(trial.sent)}"
    if trial.verdict is IsolationVerdict.APART:
        return Box(text=counts)
    why = trial.verdict + (f": {trial.said}" if trial.said else "")
    if trial.verdict is IsolationVerdict.NOT_ENFORCED:
        return Box(text=counts, note=notes.number(why), tone="missing")
    return Box(text=f"{counts} {trial.verdict}", note=notes.number(why), tone="alarm")


def isolation_ways_grid(proof: Proof) -> Grid:
    """Give what arrived of each kind of forged frame: all pairs of one verdict in a row."""
    found: dict[tuple[ForgedKind, IsolationVerdict], list[IsolationTrial]] = {}
    for trial in proof.isolation:
        found.setdefault((trial.forged, trial.verdict), []).append(trial)
    order = list(ForgedKind)
    rows = []
    for (kind, verdict), trials in sorted(found.items(), key=lambda i: order.index(i[0][0])):
        sent, arrived = sum(t.sent for t in trials), sum(t.arrived for t in trials)
        counts = f"{fmt.count(arrived)} / {fmt.count(sent)}"
        judged = Box(text=verdict)
        if verdict in (IsolationVerdict.LEAKED, IsolationVerdict.NOT_SHOWN):
            ways = ", ".join(f"{t.sender} → {t.receiver}" for t in trials)
            said = "; ".join(dict.fromkeys(t.said for t in trials if t.said))
            judged = Box(text=f"{verdict}: {'; '.join(filter(None, (ways, said)))}", tone="alarm")
        rows.append((*text(kind, str(len(trials)), counts), judged))
    return Grid(
        title="Forged frames between guests that must not reach each other",
        caption="Sum over the pairs of guests. Proven only if the receiver also received the "
        "frames that it must receive.",
        columns=columns(
            "Kind", "Pairs", "Arrived / sent", "Verdict", words=["Kind"], wraps=["Verdict"]
        ),
        rows=tuple(rows),
        empty="No frames were forged.",
    )
