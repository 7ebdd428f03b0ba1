"""Trials of two labels side by side: by how much they differ, and whether that is more than spread.

The answer rests on separation: every trial after the change is better (or worse) than every trial
before it. If the change did nothing, all orders of the trials are alike likely, and 2 of the
C(m+n, n) have the two groups apart, one way or the other. That is also the exact two-sided p of the
rank test of Mann and Whitney (1947) for these trials, at its most extreme rank sum. No other rank
sum is tested: trials that overlap are told to overlap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import comb
from statistics import median

from wirespeed.model.spread import Spread
from wirespeed.model.workload_trial import Labelled

CHANCE = 0.05
"""Apart by chance no more often than this counts: 4 and 4 trials (2 of 70), 3 and 5, 2 and 8."""


class Verdict(StrEnum):
    """What became of the figure."""

    BETTER = "better"
    WORSE = "worse"
    OVERLAP = "within the spread"
    TOO_FEW = "too few trials"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two labels, compared."""

    before: Labelled
    after: Labelled
    before_spread: Spread | None
    """None: no trial counts."""
    after_spread: Spread | None
    difference: float | None
    """Of the medians: after less before, in their unit."""
    difference_percent: float | None
    """Of the median before; None where that is 0."""
    are_apart: bool
    """Every trial of one is above every trial of the other."""
    orders: int
    """In how many orders the trials can stand: in 2 of them they are apart."""
    verdict: Verdict


def figures(one: Labelled) -> list[float]:
    """Give the figures of the trials that count."""
    return [trial.figure for trial in one.trials if trial.figure is not None]


def spread(values: Sequence[float]) -> Spread | None:
    """Give median, least, most and how many; None of none."""
    if not values:
        return None
    return Spread(median(values), min(values), max(values), len(values))


def compare(before: Labelled, after: Labelled) -> Pair:
    """Compare the trials that count of two labels."""
    old, new = figures(before), figures(after)
    old_spread, new_spread = spread(old), spread(new)
    orders = comb(len(old) + len(new), len(old))
    if old_spread is None or new_spread is None:
        return Pair(
            before, after, old_spread, new_spread, None, None, False, orders, Verdict.TOO_FEW
        )
    difference = new_spread.median - old_spread.median
    is_above = new_spread.least > old_spread.most
    are_apart = is_above or new_spread.most < old_spread.least
    return Pair(
        before=before,
        after=after,
        before_spread=old_spread,
        after_spread=new_spread,
        difference=difference,
        difference_percent=(
            100 * difference / abs(old_spread.median) if old_spread.median else None
        ),
        are_apart=are_apart,
        orders=orders,
        verdict=_verdict(
            are_apart=are_apart,
            is_better=is_above == after.workload.higher_is_better,
            chance=2 / orders,
        ),
    )


def _verdict(*, are_apart: bool, is_better: bool, chance: float) -> Verdict:
    if chance > CHANCE:
        # Nothing that these trials could show would be more than chance.
        return Verdict.TOO_FEW
    if not are_apart:
        return Verdict.OVERLAP
    return Verdict.BETTER if is_better else Verdict.WORSE
