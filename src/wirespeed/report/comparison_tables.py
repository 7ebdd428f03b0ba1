"""The tables of a comparison. Every approach that was asked for has a place in each of them."""

from collections.abc import Callable
from operator import attrgetter

from wirespeed.measure.network.summary import PingCell
from wirespeed.model.network_trial import FailoverVerdict, Pair
from wirespeed.model.shown import shown
from wirespeed.model.spread import Spread
from wirespeed.report import format as fmt
from wirespeed.report.comparison import Comparison, NotShown, approach_of
from wirespeed.report.comparison_features import FEATURES, traits_of
from wirespeed.report.comparison_paths import Link, cell_limit, link_of
from wirespeed.report.grid import Cell, Grid, Notes, columns, text
from wirespeed.report.page import Missing
from wirespeed.report.proof_answer import (
    answers,
    has_survived,
    is_proven,
    verdict,
    verdicts_by_port,
)
from wirespeed.report.proof_page import Proof
from wirespeed.report.proof_tables import FIGURES, NOT_MEASURED, figure_cells, medians_of, named
from wirespeed.report.published import SOURCE, published_rows

MOST_SAID = 300


def pairs_of(comparison: Comparison) -> tuple[Pair, ...]:
    """Every pair of guests that one of them was measured between."""
    return tuple(dict.fromkeys(pair for proof in comparison.proofs for pair in proof.pairs))


def pair_grid(comparison: Comparison, pair: Pair) -> Grid:
    """Give the published table's own columns with a row for each approach."""
    notes = Notes()
    rows = []
    for one in comparison.approaches:
        figures = medians_of(one, pair) if isinstance(one, Proof) else [_not(one)] * len(FIGURES)
        rows.append((*text(str(approach_of(one))), *figure_cells(figures, notes)))
    return Grid(
        title=f"Between {named(pair)}",
        caption="Medians. iperf3/MTU/streams counts TCP payload; n, spread and limit are below.",
        columns=columns("Approach", *FIGURES, words=["Approach"]),
        rows=tuple(rows),
        notes=notes.all,
        narrow="turned",
    )


def published_grid() -> Grid:
    """Give the figures of another machine, to hold the orders of magnitude against."""
    rows = [
        tuple(Cell(text=word, tone="missing") for word in (one.approach, *one.figures))
        for one in published_rows()
    ]
    return Grid(
        title="Published, of another machine",
        caption=f"A reference, not a goal: {SOURCE}.",
        columns=columns("Approach", *FIGURES, words=["Approach"]),
        rows=tuple(rows),
        narrow="turned",
    )


def cells_grid(comparison: Comparison) -> Grid:
    """Every figure with its spread and what limited it: a row a figure, a column an approach."""
    link = link_of(comparison.proofs)
    proofs, all_of_them = comparison.proofs, comparison.approaches
    cells = [(c.pair, c.mtu, c.streams) for proof in proofs for c in proof.summary.iperf3]
    rows = []
    for key in dict.fromkeys(cells):
        pair, mtu, streams = key
        name = Cell(text=f"iperf3/{mtu}/{streams} (Gb/s), {named(pair)}")
        rows.append((name, *(_iperf3_cell(one, key, link) for one in all_of_them)))
    for pair in dict.fromkeys(ping.pair for proof in proofs for ping in proof.summary.pings):
        for word, take in (("mean", attrgetter("mean_us")), ("mdev", attrgetter("mdev_us"))):
            name = Cell(text=f"ping {word} (us), {named(pair)}")
            rows.append((name, *(_ping_cell(one, pair, take) for one in all_of_them)))
    names = [str(name) for name in comparison.names]
    return Grid(
        title="Each figure: spread, n, and what limited it",
        caption=(
            "Median (least to most, n). Of iperf3 each direction of each run is one value; of ping "
            "each run is one."
        ),
        columns=columns("Figure", *names, wraps=["Figure", *names]),
        rows=tuple(rows),
        narrow="list",
    )


def costs_grid(comparison: Comparison) -> Grid:
    """What it costs the hosts, and what a lost port costs the guests."""
    notes = Notes()
    rows = []
    for one in comparison.approaches:
        if isinstance(one, NotShown):
            rows.append((*text(str(one.approach)), *([notes.cell(_not(one), str)] * 7)))
            continue
        hosts = {h for cell in one.summary.iperf3 for h in cell.host_cores_per_gbps}
        hosts |= set(one.summary.idle_cores)
        if not hosts:
            none = Missing(reason="no host's /proc/stat could be read beside a run of iperf3")
            rows.append((*text(str(approach_of(one))), *([notes.cell(none, str)] * 7)))
        rows += [_cost_row(one, host, notes) for host in sorted(hosts)]
    return Grid(
        title="Cores, and a port that is lost",
        caption=(
            "Cores at rest: busy while no guest sends, which is what polling costs. Cores for each "
            "Gb/s: busy over payload through the host, of the cell that costs least and of the one "
            "that costs most; "
            "polling: what is busy at rest, over the most that was carried. Outage: the longest."
        ),
        columns=columns(
            "Approach", "Host", "Cores at rest", "Cores for each Gb/s", "Polling for each Gb/s",
            "Outage (ms)", "Packets lost", "Ports survived", words=["Approach", "Host"],
        ),
        rows=tuple(rows),
        notes=notes.all,
        empty="Nothing was measured.",
        narrow="list",
    )  # fmt: skip


def answers_grid(comparison: Comparison) -> Grid:
    """One row for each question, one column for each approach."""
    proofs = comparison.proofs
    questions = [one.question for one in answers(proofs[0])] if proofs else []
    names = [str(name) for name in comparison.names]
    rows = [
        (Cell(text=question), *(_answer_cell(one, number) for one in comparison.approaches))
        for number, question in enumerate(questions)
    ]
    first = (Cell(text="Verdict"), *map(_verdict_cell, comparison.approaches))
    return Grid(
        title="Question by question",
        caption="Each approach was built, measured and undone before the next one.",
        columns=columns("", *names, words=[""], wraps=names),
        rows=(first, *rows) if proofs else (),
        empty="Nothing.",
        narrow="list",
    )


def features_grid(comparison: Comparison) -> Grid:
    """What each approach has and lacks."""
    rows = [
        text(feature, *(traits_of(name).features[feature] for name in comparison.names))
        for feature in FEATURES
    ]
    words = ["", *map(str, comparison.names)]
    return Grid(
        title="What it has and lacks",
        caption="By design, not measured here.",
        columns=columns(*words, wraps=words),
        rows=tuple(rows),
        narrow="list",
    )


def when_grid(comparison: Comparison) -> Grid:
    """For whom each is, with the spec's own numbers."""
    spec = comparison.spec
    heads = ("Approach", "Take it when", "Leave it when")
    return Grid(
        title="For whom each is",
        caption="By design, for this spec.",
        columns=columns(*heads, words=heads[:1], wraps=heads[1:]),
        rows=tuple(
            text(str(name), of.take_it_when(spec), of.leave_it_when(spec))
            for name, of in ((name, traits_of(name)) for name in comparison.names)
        ),
        narrow="list",
    )


def _iperf3_cell(one: Proof | NotShown, key: tuple[Pair, int, int], link: Link) -> Cell:
    if isinstance(one, NotShown):
        return _absent(one)
    cells = (c for c in one.summary.iperf3 if (c.pair, c.mtu, c.streams) == key)
    cell = next(cells, None)
    if cell is None:
        return Cell(text=NOT_MEASURED.reason, tone="missing")
    return _spread_cell(cell.bps, 1e9, cell_limit(one, cell, link), cell.failed)


def _ping_cell(
    one: Proof | NotShown, pair: Pair, take: Callable[[PingCell], Spread | None]
) -> Cell:
    if isinstance(one, NotShown):
        return _absent(one)
    ping = next((ping for ping in one.summary.pings if ping.pair == pair), None)
    if ping is None:
        return Cell(text=NOT_MEASURED.reason, tone="missing")
    lost = f"{fmt.count(ping.lost)} of {fmt.count(ping.sent)} not answered"
    return _spread_cell(take(ping), 1, lost, ping.failed)


def _spread_cell(spread: Spread | None, unit: float, limit: str, failed: tuple[str, ...]) -> Cell:
    if spread is None:
        return Cell(text=f"no run counts: {'; '.join(failed)}", tone="alarm")
    median, least, most = (
        fmt.significant(value / unit, 3) for value in (spread.median, spread.least, spread.most)
    )
    lost = f"; {len(failed)} runs failed: {failed[0]}" if failed else ""
    return Cell(
        text=f"{median} ({least} to {most}, n {spread.n}); {limit}{lost}",
        tone="alarm" if failed else "plain",
    )


def _cost_row(proof: Proof, host: str, notes: Notes) -> tuple[Cell, ...]:
    cells = [c for c in proof.summary.iperf3 if host in c.host_cores_per_gbps]
    costs = [cell.host_cores_per_gbps[host].median for cell in cells]
    resting = proof.summary.idle_cores.get(host)
    carried = [cell.bps.median * (1 + cell.bidirectional) / 1e9 for cell in cells if cell.bps]
    unread = Missing(reason="not measured: /proc/stat of the host could not be read")
    uncosted = Missing(reason="not measured: no run of iperf3 went through this host")
    polling: float | Missing = uncosted if resting else unread
    if resting and carried:
        polling = resting.median / max(carried)
    trials = [trial for trial in proof.summary.failovers if trial.host == host]
    ports = verdicts_by_port(trials)
    good = [trial for trial in trials if trial.verdict is FailoverVerdict.SURVIVED]
    none = Missing(
        reason="no port of this host was taken away"
        if not ports
        else "no port was lost that carried a flow, and survived"
    )
    survived = sum(map(has_survived, ports.values()))
    outages = [(ms, t.load_pps) for t in good if (ms := t.longest_outage_ms) is not None]
    outage = max(outages, default=none)
    return (
        *text(str(proof.opening.spec.approach), host),
        notes.cell(resting.median if resting else unread, _two),
        notes.cell((min(costs), max(costs)) if costs else uncosted, _band),
        notes.cell(polling, _two),
        notes.cell(outage, lambda longest: fmt.milliseconds(*longest)),
        notes.cell(sum(t.lost_packets or 0 for t in good) if good else none, fmt.count),
        notes.cell(f"{survived} of {len(ports)}" if ports else none, str),
    )


def _answer_cell(one: Proof | NotShown, number: int) -> Cell:
    if isinstance(one, NotShown):
        return _absent(one)
    answer = answers(one)[number]
    good = answer.is_proven or not answer.is_asked
    return Cell(
        text=shown(f"{answer.figure}: {answer.condition}", 400), tone="plain" if good else "alarm"
    )


def _verdict_cell(one: Proof | NotShown) -> Cell:
    if isinstance(one, NotShown):
        return Cell(text=_not(one).reason, tone="alarm")
    return Cell(text=verdict(one), tone="plain" if is_proven(one) else "alarm")


def _absent(one: NotShown) -> Cell:
    return Cell(text=f"not measured, because {one.what}", tone="missing")


def _not(one: NotShown) -> Missing:
    return Missing(reason=shown(f"not measured, because {one.what}: {one.found}", MOST_SAID))


def _two(value: float) -> str:
    return fmt.significant(value, 2)


def _band(band: tuple[float, float]) -> str:
    low, high = map(_two, band)
    return low if low == high else f"{low} to {high}"
