"""Is a figure worse than before? Ranks, not means: no distribution of the figure is assumed. Pure.

The newest values are held against those before by the Mann-Whitney test (exact up to 20 values,
without ties; else its normal approximation with the correction for ties). Where the series changed
most is found by Pettitt's test (A. N. Pettitt, 1979, Applied Statistics 28, 126-135).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, erfc, exp, sqrt
from statistics import median
from typing import Literal

EXACT = 20
"""Values of both sides together up to which the distribution is counted out."""


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a figure."""

    at: str
    value: float
    batch: int
    """Values of one number were measured together."""


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """Where a series changes most."""

    after: int
    """So many values come before."""
    at: str
    """When the first value after it was kept."""
    p: float
    """Chance of such a change in a series without any; an approximation for short series."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What the newest values say."""

    verdict: Literal["worse", "not worse", "cannot tell"]
    before_n: int
    new_n: int
    before_median: float
    new_median: float
    p: float
    """Chance of new values as bad as these, or worse, if nothing changed: one-sided."""
    least_p: float
    """The smallest chance that so few values can show."""
    change: ChangePoint | None


def judge_series(
    values: Sequence[Value], *, lower_is_better: bool, alpha: float, new: int | None = None
) -> Gate:
    """Hold the last `new` values (None: the newest batch) against all before.

    *cannot tell*: there are too few values to show anything at `alpha`, whatever they are.
    """
    if new is None:
        new = sum(one.batch == values[-1].batch for one in values)
    new = min(new, len(values))
    sign = 1.0 if lower_is_better else -1.0
    # From here on, greater is worse.
    before = [sign * one.value for one in values[: len(values) - new]]
    after = [sign * one.value for one in values[len(values) - new :]]
    p = p_greater(before, after) if before else 1.0
    least = 1 / comb(len(values), new) if before else 1.0
    verdict: Literal["worse", "not worse", "cannot tell"] = "not worse"
    if least > alpha:
        verdict = "cannot tell"
    elif p <= alpha:
        verdict = "worse"
    return Gate(
        verdict=verdict,
        before_n=len(before),
        new_n=new,
        before_median=sign * median(before) if before else float("nan"),
        new_median=sign * median(after),
        p=p,
        least_p=least,
        change=change_point(values),
    )


def p_greater(before: Sequence[float], after: Sequence[float]) -> float:
    """Give the one-sided chance that `after` is as much greater as it is, if both are alike."""
    m, n = len(before), len(after)
    u = sum((b > a) + 0.5 * (b == a) for a in before for b in after)
    has_ties = len({*before, *after}) < m + n
    if m + n <= EXACT and not has_ties:
        ways = sum(_ways(m, n, k) for k in range(round(u), m * n + 1))
        return ways / comb(m + n, n)
    everything = sorted([*before, *after])
    ties = sum(t**3 - t for t in map(everything.count, set(everything)))
    total = m + n
    variance = m * n / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    z = (u - m * n / 2 - 0.5) / sqrt(variance)
    return erfc(z / sqrt(2)) / 2


@cache
def _ways(m: int, n: int, u: int) -> int:
    """Count the orders of `m` and `n` values in which the statistic is `u`."""
    if u < 0 or u > m * n:
        return 0
    if not m or not n:
        return int(u == 0)
    return _ways(m, n - 1, u - m) + _ways(m - 1, n, u)


def change_point(values: Sequence[Value]) -> ChangePoint | None:
    """Give where a series changes most; None: it is too short, or all values are equal."""
    count = len(values)
    if count < 4:
        return None
    best, at, u = 0, 0, 0
    for t in range(count - 1):
        own = values[t].value
        u += sum((own > other.value) - (own < other.value) for other in values)
        if abs(u) > best:
            best, at = abs(u), t + 1
    if not best:
        return None
    p = min(1.0, 2 * exp(-6 * best**2 / (count**3 + count**2)))
    return ChangePoint(at, values[at].at, p)
