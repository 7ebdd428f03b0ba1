"""What tables and charts of a DUT share: a row per result, told apart by its name."""

from collections import Counter

from wirespeed.model.trial import Outcome
from wirespeed.report import format as fmt
from wirespeed.report.grid import Cell
from wirespeed.report.headline import median_search, spread
from wirespeed.report.page import DutSection, Missing, Result, Spread, Unfinished

DRAWN_REPEATS = 3
"""A size that was searched more often than this is drawn once, by its median search."""


def labelled(dut: DutSection) -> list[tuple[Cell, Result]]:
    """Each result with its frame size, and its method and turn where those are needed."""
    made = []
    for result, method, turn in _told_apart(dut):
        label = " ".join(filter(None, (result.outcome.mix.label, method, turn and f"({turn})")))
        made.append((Cell(text=label), result))
    return made


def answered(dut: DutSection) -> list[tuple[Cell, Result, Spread | Missing]]:
    """Each frame size once, by its median search, with how far its searches lie apart."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in dut.results:
        groups.setdefault(key(result.outcome), []).append(result)
    methods = {method for _, method in groups}
    made = []
    for (label, method), group in groups.items():
        outcomes = [r.outcome for r in group]
        median = median_search(outcomes)
        result = next(r for r in group if r.outcome is median)
        cell = Cell(text=f"{label} {method}" if len(methods) > 1 else label)
        made.append((cell, result, spread(outcomes)))
    return made


def named(dut: DutSection) -> list[tuple[str, Result]]:
    """Each result by its full name: `l3fwd lpm, 64 B, informed, search 2 of 5`."""
    made = []
    for result, method, turn in _told_apart(dut):
        size = fmt.frame(result.outcome.mix.label)
        parts = (dut.name, size, method, turn and f"search {turn}")
        made.append((", ".join(filter(None, parts)), result))
    return made


def unfinished_name(dut: DutSection, left: Unfinished) -> str:
    """Name trials that came to no outcome."""
    return f"{dut.name}, {fmt.frame(left.mix.label)}: not finished"


def _told_apart(dut: DutSection) -> list[tuple[Result, str, str]]:
    """Each result, its method if there are several, its turn (`2 of 5`) if it was repeated."""
    methods = {r.outcome.method for r in dut.results}
    total = Counter(key(r.outcome) for r in dut.results)
    turn: Counter[tuple[str, str]] = Counter()
    made = []
    for result in dut.results:
        same = key(result.outcome)
        turn[same] += 1
        method = same[1] if len(methods) > 1 else ""
        made.append((result, method, f"{turn[same]} of {total[same]}" if total[same] > 1 else ""))
    return made


def chosen(dut: DutSection) -> list[tuple[str, Result]]:
    """Each result to draw with its name."""
    groups: dict[tuple[str, str], list[tuple[str, Result]]] = {}
    for name, result in named(dut):
        groups.setdefault(key(result.outcome), []).append((name, result))
    made = []
    for group in groups.values():
        if len(group) <= DRAWN_REPEATS:
            made += group
            continue
        median = median_search([r.outcome for _, r in group])
        which = "the last" if median.throughput_pps is None else "the median"
        made += [(f"{name}: {which}", r) for name, r in group if r.outcome is median]
    return made


def key(outcome: Outcome) -> tuple[str, str]:
    """Mix and method: what makes two searches of one DUT repetitions of each other."""
    return outcome.mix.label, outcome.method


def known(value: float | None, missing: Missing) -> float | Missing:
    """Take the figure, or what says why there is none."""
    return missing if value is None else value
