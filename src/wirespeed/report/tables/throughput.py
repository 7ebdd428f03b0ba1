"""The answer: throughput in every unit, what limited it, and apart from it what lost a little."""

from wirespeed.model.trial import Outcome
from wirespeed.report import format as fmt
from wirespeed.report.grid import Cell, Grid, Notes, columns, text
from wirespeed.report.page import DutSection, Missing, Result, Spread
from wirespeed.report.tables.rows import answered, known, labelled

ABOVE_LINE_PCT = 100.02
"""Two clocks that keep IEEE 802.3's 100 ppm may differ by 200 ppm; more is a contradiction."""
NO_CYCLES = Missing(reason="the DUT's cycles per packet were not measured", shown="cannot tell")
OVERLOAD_CYCLES = "per packet at the overloaded forwarding rate: the DUT counts none itself"
NO_CORE_HZ = Missing(reason="the frequency of the DUT's core was not read", shown="cannot tell")


def throughput(dut: DutSection) -> Grid:
    """Tabulate the answer: throughput in every unit, and what bounds it."""
    notes, rows = Notes(), []
    lined = any(not isinstance(r.line_rate_pps, Missing) for r in dut.results)
    answers = answered(dut)
    repeated = len(answers) < len(dut.results)
    for frame, r, range_ in answers:
        o = r.outcome
        rows.append(
            (
                frame,
                notes.cell(r.throughput_pps, fmt.mpps),
                *((_range(range_, notes),) if repeated else ()),
                *((notes.cell(r.line_rate_pps, fmt.mpps),) if lined else ()),
                _pct(r, notes),
                notes.cell(r.throughput_bps_l1, fmt.gbps),
                notes.cell(r.throughput_bps_l2, fmt.gbps),
                _lost(o, notes),
                _confirmed(o, notes),
                _cycles(o, notes),
                notes.cell(known(o.core_hz, NO_CORE_HZ), fmt.ghz),
                Cell(text=o.limit.by),
            )
        )
    windowed = any(r.outcome.windows is not None for r in dut.results)
    return Grid(
        title="Windowed throughput" if windowed else "Throughput",
        caption="The highest load that a confirming trial carried without loss"
        f"{', over the sum of its valid windows' if windowed else ''}"
        f"{'; the median of the searches of a size' if repeated else ''}. "
        "L1 counts frames with FCS, preamble and gap; L2 counts frames with FCS.",
        columns=columns(
            "Frame, B",
            "Throughput, Mpps",
            *(("Lowest to highest",) if repeated else ()),
            *(("Line rate, Mpps",) if lined else ()),
            "% of line rate",
            "Gb/s, L1",
            "Gb/s, L2",
            "Frames lost",
            "Confirmed for",
            "Busy cycles per packet",
            "Core, GHz",
            "Limited by",
            words=("Limited by",),
        ),
        rows=tuple(rows),
        notes=notes.all,
    )


def limits(dut: DutSection) -> Grid:
    """Tabulate what limited each result, with its evidence."""
    rows = []
    for frame, r in labelled(dut):
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


def partial_drop(dut: DutSection) -> Grid | None:
    """Tabulate the loads at a loss ratio above zero; None where no search asked."""
    rows = [
        (frame, *text(fmt.mpps(o.pdr_load_pps), fmt.ratio(o.pdr_loss_ratio)))
        for frame, r in labelled(dut)
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


def _range(figure: Spread | Missing, notes: Notes) -> Cell:
    if isinstance(figure, Missing):
        return notes.cell(figure, fmt.mpps)
    shown = _between(figure.lowest_pps, figure.highest_pps)
    if figure.proven == figure.searches:
        return Cell(text=f"{shown} (n {figure.searches})")
    return Cell(text=f"{shown} ({figure.proven} of {figure.searches})")


def _between(lowest_pps: float, highest_pps: float) -> str:
    return f"{fmt.mpps(lowest_pps)} to {fmt.mpps(highest_pps)}"


def _pct(result: Result, notes: Notes) -> Cell:
    cell = notes.cell(result.pct_line_rate, fmt.pct)
    if isinstance(result.pct_line_rate, Missing) or result.pct_line_rate <= ABOVE_LINE_PCT:
        return cell
    reason = "above line rate, which cannot be: the clock, the link's figure or a counter is wrong"
    return cell.model_copy(update={"note": notes.number(reason), "tone": "alarm"})


def _lost(outcome: Outcome, notes: Notes) -> Cell:
    cell = Cell(text=fmt.count(outcome.lost_frames))
    if outcome.confirmed_trial is not None:
        return cell
    reason = "frames missing in the last trial that failed"
    return cell.model_copy(update={"note": notes.number(reason)})


def _confirmed(outcome: Outcome, notes: Notes) -> Cell:
    if outcome.confirmed_trial is None:
        return notes.cell(Missing(reason="no trial confirmed a throughput"), str)
    again = outcome.confirmations
    seconds = fmt.seconds(outcome.confirmed_seconds)
    cell = Cell(text=seconds if again is None else f"{again.trials} x {seconds}")
    said = [] if again is None else [f"rates {_between(again.lowest_pps, again.highest_pps)} Mpps"]
    said += [] if outcome.windows is None else [str(outcome.windows)]
    return cell.model_copy(update={"note": notes.number("; ".join(said))}) if said else cell


def _cycles(outcome: Outcome, notes: Notes) -> Cell:
    cell = notes.cell(known(outcome.busy_cycles_per_packet, NO_CYCLES), lambda c: f"{c:.0f}")
    if outcome.cycles_source == "overload":
        return cell.model_copy(update={"note": notes.number(OVERLOAD_CYCLES)})
    return cell
