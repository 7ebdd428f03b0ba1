"""A run's results beside those of a published test, by frame size. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from wirespeed.model.units import pct_of_line_rate
from wirespeed.report import format as fmt
from wirespeed.report.document import Block, Document, Heading, Section, Text, Warn
from wirespeed.report.grid import Cell, Grid, Notes, columns, text
from wirespeed.report.headline import median_search, spread
from wirespeed.report.page import DutSection, Missing, Result, Run
from wirespeed.report.published_report import PublishedRow, PublishedTest

ANCHOR = "published"
COMPUTED = "computed: the printed frame rate over the printed line rate of all its ports"
NOT_IN_RUN = Missing(reason="the run has no result of this frame size")
NOT_PUBLISHED = Missing(reason="the published test has no such frame size")
NO_AVERAGE = Missing(reason="the run has no valid trial of a full line for this frame size")
NO_RATIO = Missing(reason="one of the two has no figure")
SAME_LINE = 0.002
"""Relative: the report prints its line rates to two decimals, 4.06 the lowest of them."""


def with_published(page: Document, run: Run, test: PublishedTest) -> Document:
    """Lay a test's figures beside a run's on its page, before the searches, or at its end."""
    section = Section(
        ANCHOR,
        f"Beside test {test.number} of the published report",
        tuple(_blocks(run, test)),
        short=f"Published test {test.number}",
    )
    anchors = [one.anchor for one in page.sections]
    at = anchors.index("searches") if "searches" in anchors else len(anchors)
    return replace(page, sections=(*page.sections[:at], section, *page.sections[at:]))


def _blocks(run: Run, test: PublishedTest) -> Iterator[Block]:
    yield Text(
        f"Test {test.number}, table {test.table} of Mellanox' performance report with DPDK 19.08 "
        f"(2019): {test.title}. It was measured on other machines with another tester."
    )
    if differences := tuple(_differences(run, test)):
        yield Warn(differences)
    for dut in run.duts:
        yield Heading(dut.name)
        yield _grid(dut, test)
        yield from map(Text, _lacks(dut, test))


def _differences(run: Run, test: PublishedTest) -> Iterator[str]:
    """Say what keeps the two from being the same measurement."""
    link_bps, published = run.setup.link_bps, f"ports of {test.port_gbps} Gb/s"
    if link_bps is None:
        yield f"The run's wire is virtual and has no line rate; the published test has {published}."
    elif link_bps != test.port_gbps * 10**9:
        yield (
            f"Another link speed: the run's ports are of {link_bps / 1e9:g} Gb/s, the published "
            f"test has {published}."
        )
    elif any(_sends_from_others(one, test) for dut in run.duts for one in dut.results):
        yield (
            "Another number of ports: the published test sends from "
            f"{test.ports}, and the run's line rate is not that of as many."
        )
    if test.is_single_core and any(_average(dut.results) is None for dut in run.duts):
        yield (
            "The published rates are what one core forwarded on average while a full line was "
            "offered. The run's are of zero loss: a ratio of the two is not like for like."
        )
    if run.setup.windowed:
        yield "The run's trials are windowed: its throughput is not RFC 2544's."


def _sends_from_others(result: Result, test: PublishedTest) -> bool:
    row = test.row(result.outcome.mix.label)
    if row is None or isinstance(result.line_rate_pps, Missing):
        return False
    return abs(result.line_rate_pps / test.line_pps(row) - 1) > SAME_LINE


def _grid(dut: DutSection, test: PublishedTest) -> Grid:
    notes = Notes()
    averaged = test.is_single_core and _average(dut.results) is not None
    average = "Run at line rate, average, Mpps"
    return Grid(
        title=f"{dut.name} beside test {test.number}",
        caption="Frame rates, their part of the line rate of all ports that sent, and run / "
        "published. For a repeated search this is the median."
        + (" The ratio is of the average at line rate, as the report's." if averaged else ""),
        columns=columns(
            "Frame, B",
            "Method",
            "Run, zero loss, Mpps" if averaged else "Run, Mpps",
            "Run, % of line rate",
            *((average,) if averaged else ()),
            "Published, Mpps",
            "Published, % of line rate",
            "Average / published" if averaged else "Run / published",
            words=("Method",),
        ),
        rows=tuple(_rows(dut, test, notes, averaged=averaged)),
        notes=notes.all,
    )


def _average(results: Sequence[Result]) -> float | None:
    """Give what came back of a full line on average, of several trials the median."""
    rates = [
        trial.forwarding_rate_pps
        for one in results
        for trial in one.further
        if trial.purpose == "line" and trial.valid
    ]
    return median(rates) if rates else None


def _rows(
    dut: DutSection, test: PublishedTest, notes: Notes, *, averaged: bool
) -> Iterator[tuple[Cell, ...]]:
    for (label, method), results in _groups(dut).items():
        row = test.row(label)
        figure = spread([one.outcome for one in results])
        told = median_search([one.outcome for one in results])
        part = next(one.pct_line_rate for one in results if one.outcome is told)
        pps = figure if isinstance(figure, Missing) else figure.median_pps
        average = _average(results) or NO_AVERAGE
        told_pps = average if averaged else pps
        ratio = NO_RATIO if row is None or isinstance(told_pps, Missing) else told_pps / row.pps
        yield (
            *text(label, method),
            notes.cell(pps, fmt.mpps),
            notes.cell(part, fmt.pct),
            *((notes.cell(average, fmt.mpps),) if averaged else ()),
            *_published(test, row, notes),
            notes.cell(ratio, lambda value: f"{value:.3f}"),
        )
    for row in _not_in(dut, test):
        yield (
            *text(str(row.frame_bytes), "—"),
            *(notes.cell(NOT_IN_RUN, str) for _ in range(3 if averaged else 2)),
            *_published(test, row, notes),
            notes.cell(NO_RATIO, str),
        )


def _published(test: PublishedTest, row: PublishedRow | None, notes: Notes) -> tuple[Cell, Cell]:
    if row is None:
        return notes.cell(NOT_PUBLISHED, str), notes.cell(NOT_PUBLISHED, str)
    if row.pct_line_rate:
        return Cell(text=row.mpps), Cell(text=row.pct_line_rate)
    part = fmt.pct(pct_of_line_rate(row.pps, test.line_pps(row)))
    return Cell(text=row.mpps), Cell(text=part, note=notes.number(COMPUTED))


def _lacks(dut: DutSection, test: PublishedTest) -> Iterator[str]:
    """Say which frame sizes one of the two lacks."""
    if missing := [str(row.frame_bytes) for row in _not_in(dut, test)]:
        yield f"Frame sizes that the run has no result of: {', '.join(missing)}."
    labels = dict.fromkeys(label for label, _ in _groups(dut))
    if others := [label for label in labels if test.row(label) is None]:
        yield f"Frame sizes that the published test lacks: {', '.join(others)}."


def _not_in(dut: DutSection, test: PublishedTest) -> tuple[PublishedRow, ...]:
    labels = {label for label, _ in _groups(dut)}
    return tuple(row for row in test.rows if str(row.frame_bytes) not in labels)


def _groups(dut: DutSection) -> dict[tuple[str, str], tuple[Result, ...]]:
    """Results by frame size and method, in the order of the page."""
    found: dict[tuple[str, str], tuple[Result, ...]] = {}
    for one in dut.results:
        key = one.outcome.mix.label, one.outcome.method
        found[key] = (*found.get(key, ()), one)
    return found
