"""Every search of a page that is drawn, under its name."""

from typing import NamedTuple

from markupsafe import Markup

from wirespeed.model.trial import Trial
from wirespeed.report.charts.chosen import chosen
from wirespeed.report.charts.search import search
from wirespeed.report.page import Missing, Page
from wirespeed.report.tables.rows import unfinished_name


class Drawn(NamedTuple):
    """One drawing and what stands under it."""

    name: str
    chart: Markup


def searches(page: Page) -> tuple[Drawn, ...]:
    """Draw every search that has trials, in the order of the page; of many repeats the median."""
    made = []
    for run in page.runs:
        before = f"Run {run.label}, " if run.label else ""
        for dut in run.duts:
            of_dut: list[tuple[str, tuple[Trial, ...], float | Missing | None]] = [
                (name, r.trials, r.throughput_pps) for name, r in chosen(dut)
            ]
            for left in dut.unfinished:
                of_dut.append((unfinished_name(dut, left), left.trials, None))
            made += [Drawn(before + n, search(n, t, pps)) for n, t, pps in of_dut if t]
    return tuple(made)
