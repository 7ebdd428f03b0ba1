"""A DUT's results as tables: figures, limits, latency, ledger, trials."""

from collections import Counter

from wirespeed.model.trial import Latency, Outcome, Trial
from wirespeed.report import format as fmt
from wirespeed.report.build import spread
from wirespeed.report.grid import Cell, Column, Grid, Notes, columns, text
from wirespeed.report.page import DutSection, Missing, Result, Spread

ABOVE_LINE_PCT = 100.02
"""Two clocks that keep IEEE 802.3's 100 ppm may differ by 200 ppm; more is a contradiction."""
NO_CYCLES = Missing(reason="the DUT did not report its busy cycles", shown="cannot tell")
NO_CORE_HZ = Missing(reason="the frequency of the DUT's core was not read", shown="cannot tell")
NONE_PASSED = Missing(reason="no load that was tried passed")
NONE_FAILED = Missing(reason="no load that was tried failed", shown="none failed")


def result_grids(dut: DutSection) -> tuple[Grid, ...]:
    """Every table of one DUT but its trials, in reading order; empty ones are left out."""
    if not dut.results:
        return ()
    made = (
        throughput(dut),
        search(dut),
        repeats(dut),
        partial_drop(dut),
        limits(dut),
        latency(dut),
        ledger(dut),
    )
    return tuple(grid for grid in made if grid is not None)


def _frames(dut: DutSection) -> list[tuple[Cell, Result]]:
    """Each result with its frame size, and its method and turn where those are needed."""
    methods = {r.outcome.method for r in dut.results}
    total = Counter(_key(r.outcome) for r in dut.results)
    turn: Counter[tuple[str, str]] = Counter()
    made = []
    for result in dut.results:
        key = _key(result.outcome)
        turn[key] += 1
        label = key[0]
        if len(methods) > 1:
            label += f" {key[1]}"
        if total[key] > 1:
            label += f" ({turn[key]} of {total[key]})"
        made.append((Cell(text=label), result))
    return made


def _key(outcome: Outcome) -> tuple[str, str]:
    return outcome.mix.label, outcome.method


def throughput(dut: DutSection) -> Grid:
    """Tabulate the answer: throughput in every unit, and what bounds it."""
    notes, rows = Notes(), []
    lined = any(not isinstance(r.line_rate_pps, Missing) for r in dut.results)
    for frame, r in _frames(dut):
        o = r.outcome
        lost = Cell(text=fmt.count(o.lost_frames))
        if o.confirmed_trial is None:
            lost = lost.model_copy(
                update={"note": notes.number("frames missing in the last trial that failed")}
            )
        rows.append(
            (
                frame,
                notes.cell(r.throughput_pps, fmt.mpps),
                *((notes.cell(r.line_rate_pps, fmt.mpps),) if lined else ()),
                _pct(r, notes),
                notes.cell(r.throughput_bps_l1, fmt.gbps),
                notes.cell(r.throughput_bps_l2, fmt.gbps),
                lost,
                _confirmed(o, notes),
                notes.cell(_or(o.cycles_per_packet, NO_CYCLES), lambda c: f"{c:.0f}"),
                notes.cell(_or(o.core_hz, NO_CORE_HZ), fmt.ghz),
                Cell(text=o.limit.by),
            )
        )
    return Grid(
        title="Throughput",
        caption="The highest load that a confirming trial carried without loss. "
        "L1 counts frames with FCS, preamble and gap; L2 counts frames with FCS.",
        columns=columns(
            "Frame, B",
            "Throughput, Mpps",
            *(("Line rate, Mpps",) if lined else ()),
            "% of line rate",
            "Gb/s, L1",
            "Gb/s, L2",
            "Frames lost",
            "Confirmed for",
            "Cycles per packet",
            "Core, GHz",
            "Limited by",
            words=("Limited by",),
        ),
        rows=tuple(rows),
        notes=notes.all,
    )


def _pct(result: Result, notes: Notes) -> Cell:
    cell = notes.cell(result.pct_line_rate, fmt.pct)
    if isinstance(result.pct_line_rate, Missing) or result.pct_line_rate <= ABOVE_LINE_PCT:
        return cell
    reason = "above line rate, which cannot be: the clock, the link's figure or a counter is wrong"
    return cell.model_copy(update={"note": notes.number(reason), "tone": "alarm"})


def _confirmed(outcome: Outcome, notes: Notes) -> Cell:
    if outcome.confirmed_trial is None:
        return notes.cell(Missing(reason="no trial confirmed a throughput"), str)
    return Cell(text=fmt.seconds(outcome.confirmed_seconds))


def _or(value: float | None, missing: Missing) -> float | Missing:
    return missing if value is None else value


def search(dut: DutSection) -> Grid:
    """Tabulate the search: its bracket, its tolerance, its cost."""
    notes, rows = Notes(), []
    for frame, r in _frames(dut):
        o = r.outcome
        rows.append(
            (
                frame,
                Cell(text=o.method),
                notes.cell(_or(o.found_load_pps, NONE_PASSED), fmt.mpps),
                notes.cell(_or(o.upper_load_pps, NONE_FAILED), fmt.mpps),
                notes.cell(r.tolerance, lambda t: f"{fmt.significant(t * 100, 2)} %"),
                Cell(text=f"{fmt.significant(o.goal_width * 100, 2)} %"),
                Cell(text=fmt.count(o.trials)),
                Cell(text=fmt.count(o.invalid_trials)),
                Cell(text=fmt.seconds(o.seconds)),
            )
        )
    return Grid(
        title="How it was found",
        caption="Tolerance: how far the lowest load that failed lies above the "
        "throughput, as a part of it.",
        columns=columns(
            "Frame, B",
            "Method",
            "Search found, Mpps",
            "Lowest that failed, Mpps",
            "Tolerance",
            "Goal",
            "Trials",
            "Invalid trials",
            "Took",
            words=("Method",),
        ),
        rows=tuple(rows),
        notes=notes.all,
    )


def repeats(dut: DutSection) -> Grid | None:
    """Tabulate how far repeated searches varied; None where none was repeated."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for r in dut.results:
        groups.setdefault(_key(r.outcome), []).append(r.outcome)
    if all(len(group) == 1 for group in groups.values()):
        return None
    notes, rows = Notes(), []
    for (label, method), group in groups.items():
        figure = spread(group)
        low, mid, high = (
            (figure, figure, figure)
            if isinstance(figure, Missing)
            else (figure.lowest_pps, figure.median_pps, figure.highest_pps)
        )
        proven = figure.proven if isinstance(figure, Spread) else 0
        rows.append(
            (
                *text(label, method, f"{proven} of {len(group)}"),
                notes.cell(mid, fmt.mpps),
                notes.cell(low, fmt.mpps),
                notes.cell(high, fmt.mpps),
            )
        )
    return Grid(
        title="Spread",
        caption="Throughput of the searches that were repeated, in Mpps.",
        columns=columns(
            "Frame, B", "Method", "Proven", "Median", "Lowest", "Highest", words=("Method",)
        ),
        rows=tuple(rows),
        notes=notes.all,
    )


def partial_drop(dut: DutSection) -> Grid | None:
    """Tabulate the loads at a loss ratio above zero; None where no search asked."""
    rows = [
        (frame, *text(fmt.mpps(o.pdr_load_pps), fmt.ratio(o.pdr_loss_ratio)))
        for frame, r in _frames(dut)
        if (o := r.outcome).pdr_load_pps is not None and o.pdr_loss_ratio is not None
    ]
    if not rows:
        return None
    return Grid(
        title="Partial drop",
        caption="The highest load that lost no more than this part of its frames. "
        "This is not throughput.",
        columns=columns("Frame, B", "PDR load, Mpps", "At a loss ratio of"),
        rows=tuple(rows),
    )


def limits(dut: DutSection) -> Grid:
    """Tabulate what limited each result, with its evidence."""
    rows = []
    for frame, r in _frames(dut):
        o = r.outcome
        evidence = list(o.limit.evidence)
        if o.loss_floor is not None:
            evidence.append(f"loss floor {fmt.ratio(o.loss_floor)}: no load removed it")
        rows.append((frame, *text(o.limit.by, "; ".join(evidence) or "—")))
    return Grid(
        title="What limited it",
        caption="What kept the throughput from being higher, and the counters that say so.",
        columns=columns(
            "Frame, B", "Limited by", "Evidence", words=("Limited by",), wraps=("Evidence",)
        ),
        rows=tuple(rows),
    )


LATENCY_COLUMNS = (
    ("Least", "latency_ns_min"),
    ("p50", "latency_ns_p50"),
    ("p90", "latency_ns_p90"),
    ("p99", "latency_ns_p99"),
    ("p99.9", "latency_ns_p999"),
    ("Most", "latency_ns_max"),
)


def latency_ns(latency: Latency, field: str) -> int:
    """One percentile by its field's name."""
    return int(getattr(latency, field))


def latency(dut: DutSection) -> Grid:
    """Tabulate the percentiles of each confirming trial."""
    notes, rows = Notes(), []
    for frame, r in _frames(dut):
        lat = r.latency
        if isinstance(lat, Missing):
            blank = Cell(text="—", tone="missing")
            cells = (notes.cell(lat, str), *[blank] * (len(LATENCY_COLUMNS) + 1))
        else:
            cells = text(
                *(fmt.microseconds(latency_ns(lat, field)) for _, field in LATENCY_COLUMNS),
                fmt.count(lat.frames),
                lat.source,
            )
        rows.append((frame, *cells))
    return Grid(
        title="Latency at throughput, µs",
        caption="From the stamp in the frame to its judge, over every "
        "frame of the confirming trial. Stamps by software count the tester's own queues.",
        columns=columns(
            "Frame, B", *(h for h, _ in LATENCY_COLUMNS), "Frames", "Stamps", words=("Stamps",)
        ),
        rows=tuple(rows),
        notes=notes.all,
    )


def ledger(dut: DutSection) -> Grid:
    """Tabulate one column per place where frames were lost; the counters go into the notes."""
    places = dict.fromkeys(f.place for r in dut.results for f in r.outcome.ledger.lost)
    notes, rows = Notes(), []
    for frame, r in _frames(dut):
        o, ledger = r.outcome, r.outcome.ledger
        at: dict[str, list[Cell]] = {}
        for fate in ledger.lost:
            note = notes.number(f"{fate.place}: {fate.counter}")
            at.setdefault(fate.place, []).append(Cell(text=fmt.count(fate.frames), note=note))
        unread = Missing(reason="the ledger of this frame size does not list this place")
        accounted = (
            ledger.received_frames + sum(f.frames for f in ledger.lost) + ledger.unexplained_frames
        )
        unexplained = Cell(text=fmt.count(ledger.unexplained_frames))
        if accounted != ledger.offered_frames:
            reason = f"the record contradicts itself: it accounts for {fmt.count(accounted)} frames"
            unexplained = unexplained.model_copy(
                update={"note": notes.number(reason), "tone": "alarm"}
            )
        rows.append(
            (
                frame,
                *text(
                    str(o.ledger_trial),
                    fmt.count(ledger.offered_frames),
                    fmt.count(ledger.received_frames),
                ),
                *(_sum_cell(at[p]) if p in at else notes.cell(unread, str) for p in places),
                unexplained,
            )
        )
    return Grid(
        title="Where every frame went",
        caption="Sent = received + lost at a named place + unexplained, "
        "in the trial that set the upper bound (or the confirming one where none failed).",
        columns=(
            *columns("Frame, B", "Trial", "Sent", "= Received"),
            *(Column(heading=f"+ {p}") for p in places),
            Column(heading="+ Unexplained"),
        ),
        rows=tuple(rows),
        notes=notes.all,
    )


def _sum_cell(cells: list[Cell]) -> Cell:
    """Keep both figures of a place that two counters tell of, so that the row can be added up."""
    if len(cells) == 1:
        return cells[0]
    return Cell(text=" + ".join(c.text for c in cells), note=cells[-1].note)


def trials_grid(title: str, trials: tuple[Trial, ...]) -> Grid:
    """Every trial in the order of the run, the invalid ones with their reasons."""
    rows = []
    for t in trials:
        sums = {
            name: sum(int(getattr(s, name)) for s in t.streams)
            for name in ("reordered_frames", "duplicated_frames", "corrupted_frames")
        }
        rows.append(
            (
                *text(
                    str(t.number),
                    t.purpose,
                    fmt.mpps(t.intended_load_pps),
                    fmt.mpps(t.offered_load_pps),
                    fmt.mpps(t.forwarding_rate_pps),
                    fmt.seconds(t.measured_seconds),
                    fmt.count(t.offered_frames),
                    fmt.count(t.missing_frames),
                    fmt.ratio(t.loss_ratio) if t.offered_frames else "nothing sent",
                    *(fmt.count(n) for n in sums.values()),
                    fmt.microseconds(t.tester.gap_ns_max),
                ),
                Cell(
                    text="valid" if t.valid else f"invalid: {'; '.join(t.invalid_reasons)}",
                    tone="plain" if t.valid else "alarm",
                ),
            )
        )
    return Grid(
        title=title,
        caption="",
        columns=columns(
            "Trial",
            "Purpose",
            "Intended, Mpps",
            "Offered, Mpps",
            "Forwarded, Mpps",
            "Seconds",
            "Frames sent",
            "Missing",
            "Loss ratio",
            "Reordered",
            "Duplicated",
            "Corrupted",
            "Tester's longest gap, µs",
            "Verdict on the tester",
            words=("Purpose",),
            wraps=("Verdict on the tester",),
        ),
        rows=tuple(rows),
    )
