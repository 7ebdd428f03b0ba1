"""A figure is worse when its newest values are by more than chance; too few values tell nothing."""

from itertools import combinations
from math import comb

import pytest

from wirespeed.fleet.gate import Value, change_point, judge_series, p_greater


def series(*batches: list[float]) -> list[Value]:
    return [
        Value(f"2026-01-{number:02}", value, number)
        for number, values in enumerate(batches, 1)
        for value in values
    ]


GOOD = [98.0, 98.2, 97.9, 98.1, 98.3, 97.8, 98.05, 98.15]


def test_a_fall_by_two_percent_is_worse_and_says_since_when():
    gate = judge_series(series(GOOD, [96.0, 96.1, 95.9, 96.2]), lower_is_better=False, alpha=0.01)
    assert gate.verdict == "worse"
    # Of 12 values, the 4 lowest are the 4 newest: one order of C(12, 4).
    assert gate.p == pytest.approx(1 / comb(12, 4))
    assert (gate.before_n, gate.new_n) == (8, 4)
    assert gate.new_median == pytest.approx(96.05)
    assert gate.change is not None
    assert gate.change.after == 8


def test_a_rise_is_worse_only_where_lower_is_better():
    values = series(GOOD, [99.0, 99.1, 99.2, 99.3])
    assert judge_series(values, lower_is_better=False, alpha=0.01).verdict == "not worse"
    assert judge_series(values, lower_is_better=True, alpha=0.01).verdict == "worse"


def test_the_same_again_is_not_worse():
    values = series(GOOD, [98.02, 98.12, 97.95, 98.22])
    assert judge_series(values, lower_is_better=False, alpha=0.01).verdict == "not worse"


def test_three_and_three_cannot_tell_whatever_they_are():
    gate = judge_series(
        series([98.0, 98.1, 98.2], [1.0, 2.0, 3.0]), lower_is_better=False, alpha=0.01
    )
    assert gate.verdict == "cannot tell"
    assert gate.least_p == pytest.approx(1 / comb(6, 3))


def test_a_first_batch_cannot_tell():
    assert judge_series(series(GOOD), lower_is_better=False, alpha=0.01).verdict == "cannot tell"


def share_of_orders(before: list[float], after: list[float]) -> float:
    """Every way to deal the values out, counted: those at least as far to the worse side."""
    everything = [*before, *after]

    def u(chosen: tuple[int, ...]) -> float:
        others = [i for i in range(len(everything)) if i not in chosen]
        pairs = [(everything[i], everything[j]) for i in chosen for j in others]
        return sum((a > b) + (a == b) / 2 for a, b in pairs)

    seen = u(tuple(range(len(before), len(everything))))
    orders = list(combinations(range(len(everything)), len(after)))
    return sum(u(order) >= seen for order in orders) / len(orders)


@pytest.mark.parametrize(
    ("before", "after"),
    [([3.0, 1, 7, 4], [6.0, 5, 2]), ([1.0, 2], [4.0, 3]), (GOOD, [98.11, 97.0])],
)
def test_the_exact_chance_is_the_share_of_all_orders(before: list[float], after: list[float]):
    assert p_greater(before, after) == pytest.approx(share_of_orders(before, after))


def test_ties_go_by_the_normal_distribution_near_the_share_of_all_orders():
    before, after = [1.0, 2, 2, 3, 3, 3, 4, 5], [3.0, 4, 4, 5, 6]
    assert p_greater(before, after) == pytest.approx(share_of_orders(before, after), abs=0.01)
    assert p_greater([1.0] * 30, [1.0] * 30) == 1.0
    long = [float(n % 7) for n in range(60)]
    assert p_greater(long, [v + 9 for v in long]) < 1e-12


def test_a_series_without_change_has_no_sure_change_point():
    flat = series([5.0] * 10)
    assert change_point(flat) is None
    mixed = change_point(series([5.0, 7, 6, 5.5, 6.5, 7.5, 5.2, 6.9, 6.1, 5.9]))
    assert mixed is not None
    assert mixed.p > 0.3
