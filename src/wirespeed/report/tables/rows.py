"""What every table of a DUT shares: a row per result, told apart by its first cell."""

from collections import Counter

from wirespeed.model.trial import Outcome
from wirespeed.report.grid import Cell
from wirespeed.report.page import DutSection, Missing, Result


def labelled(dut: DutSection) -> list[tuple[Cell, Result]]:
    """Each result with its frame size, and its method and turn where those are needed."""
    methods = {r.outcome.method for r in dut.results}
    total = Counter(key(r.outcome) for r in dut.results)
    turn: Counter[tuple[str, str]] = Counter()
    made = []
    for result in dut.results:
        same = key(result.outcome)
        turn[same] += 1
        label = same[0]
        if len(methods) > 1:
            label += f" {same[1]}"
        if total[same] > 1:
            label += f" ({turn[same]} of {total[same]})"
        made.append((Cell(text=label), result))
    return made


def key(outcome: Outcome) -> tuple[str, str]:
    """Mix and method: what makes two searches of one DUT repetitions of each other."""
    return outcome.mix.label, outcome.method


def known(value: float | None, missing: Missing) -> float | Missing:
    """Take the figure, or what says why there is none."""
    return missing if value is None else value
