"""Ratios of pairs, whether they keep their promise, and build/bench.json. Pure."""

import statistics
from collections.abc import Sequence

from bench_goals import GOALS, Goal
from wirespeed.model.frozen import Frozen

MIN_PAIRS = 5


class Figure(Frozen):
    """What was measured for one goal, pair by pair."""

    name: str
    ours: tuple[float, ...]
    beside: tuple[float, ...]
    void: int = 0
    """Pairs that were made again, as one of the two was disturbed."""
    misses: tuple[str, ...] = ()
    """Parts of the promise that the ratio does not show and that were not kept."""
    notes: tuple[str, ...] = ()

    @property
    def ratios(self) -> tuple[float, ...]:
        """Pair by pair. Raises ValueError for a pair with nothing in it."""
        if not all(value > 0 for value in self.beside):
            raise ValueError(f"{self.name}: nothing to divide by in {self.beside}")
        return tuple(a / b for a, b in zip(self.ours, self.beside, strict=True))


class Unmeasured(Frozen):
    """A goal that could not be measured here, and why; `excused` if that is not a fault."""

    name: str
    why: str
    excused: bool


Result = Figure | Unmeasured


def as_json(results: Sequence[Result]) -> dict[str, dict[str, float | int | str]]:
    """Give the content of build/bench.json; what was not measured is not in it."""
    goals = {goal.name: goal for goal in GOALS}
    return {
        figure.name: {
            "ratio_median": statistics.median(figure.ratios),
            "ratio_min": min(figure.ratios),
            "ratio_max": max(figure.ratios),
            "n": len(figure.ratios),
            "goal": goals[figure.name].goal,
            "better": goals[figure.name].better,
        }
        for figure in results
        if isinstance(figure, Figure)
    }


def missed(results: Sequence[Result]) -> list[str]:
    """Say of every goal that was not met why; empty if all were."""
    found = []
    by_name = {result.name: result for result in results}
    for goal in GOALS:
        result = by_name.get(goal.name)
        if result is None:
            found.append(f"{goal.name}: not measured")
        elif isinstance(result, Unmeasured):
            if not result.excused:
                found.append(f"{goal.name}: not measured: {result.why}")
        else:
            found += [f"{goal.name}: {why}" for why in shortfalls(goal, result)]
    return found


def shortfalls(goal: Goal, figure: Figure) -> list[str]:
    """Say what of one promise was not kept."""
    found = list(figure.misses)
    ratio = statistics.median(figure.ratios)
    if not goal.is_met_by(ratio):
        found.append(f"{ratio:.3f}, goal {goal.bound}")
    if len(figure.ratios) < MIN_PAIRS:
        found.append(f"{len(figure.ratios)} pairs, at least {MIN_PAIRS}")
    return found
