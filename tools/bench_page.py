"""docs/benchmarks.md, from what was measured. Pure."""

import statistics
from collections.abc import Mapping, Sequence

from bench_figures import Figure, Result, shortfalls
from bench_goals import GOALS, Goal

INTRODUCTION = """\
# Benchmarks

`make bench` measures all of this again, on the machine that it runs on, and overwrites this page.

Each ratio compares two figures that were measured in turn in one run (A B A B …). Goals are ratios,
because seconds and cycles differ by machine and by day. A figure is compared with DPDK's own
generator, with Python's start and the called tools, with the same command for fewer hosts, or with
a fixed budget; the absolute figures are listed for information. Every program gets the same CPU,
the same kind of device and the same bursts, and none gets hugepages. A pair is measured again if
the machine took a core away or the tester declared its own trial void; below each figure stands how
often that happened.
"""


def markdown(results: Sequence[Result], setup: Mapping[str, str]) -> str:
    """Write the whole page."""
    by_name = {result.name: result for result in results}
    lines = [
        INTRODUCTION,
        "| | |",
        "|---|---|",
        *(f"| {label} | {value} |" for label, value in setup.items()),
        "",
        "| figure | ratio, median (min to max) | n | goal | met |",
        "|---|---|---|---|---|",
        *(_summary(goal, by_name.get(goal.name)) for goal in GOALS),
    ]
    for goal in GOALS:
        lines += ["", f"## {goal.name}", "", *_section(goal, by_name.get(goal.name))]
    return "\n".join(lines) + "\n"


def _summary(goal: Goal, result: Result | None) -> str:
    link = f"[{goal.name}](#{goal.name})"
    if not isinstance(result, Figure):
        return f"| {link} | not measured | 0 | {goal.bound} | - |"
    ratios = result.ratios
    spread = f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
    met = "**no**" if shortfalls(goal, result) else "yes"
    return f"| {link} | {spread} | {len(ratios)} | {goal.bound} | {met} |"


def _section(goal: Goal, result: Result | None) -> list[str]:
    lines = [f"{goal.what[0].upper()}{goal.what[1:]}.", ""]
    if not isinstance(result, Figure):
        return [*lines, f"Not measured: {result.why if result else 'it was left out'}."]
    lines += [
        f"| | {goal.unit}, median | min | max |",
        "|---|---|---|---|",
        _row(goal.ours, result.ours),
        _row(goal.beside, result.beside),
    ]
    told = [*result.misses, *result.notes]
    if result.void:
        told.append(f"{result.void} disturbed pairs were made again")
    return [*lines, *(("", "; ".join(told) + ".") if told else ())]


def _row(label: str, values: Sequence[float]) -> str:
    figures = (statistics.median(values), min(values), max(values))
    return f"| {label} | " + " | ".join(f"{value:.4g}" for value in figures) + " |"
