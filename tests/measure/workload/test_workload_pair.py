"""Whether a difference is more than the spread."""

import pytest

from wirespeed.measure.workload.pair import Verdict, compare
from wirespeed.model.workload_trial import Labelled, Workload, WorkloadTrial


def labelled(label: str, *figures: float | None, higher_is_better: bool = True) -> Labelled:
    workload = Workload(
        label=label,
        argv=("bench",),
        figure="(x)",
        unit="tok/s",
        higher_is_better=higher_is_better,
        limit_seconds=60,
        hosts=(),
        started_at="2026-01-01T00:00:00Z",
        wirespeed="0",
    )
    trials = tuple(
        WorkloadTrial(
            label=label,
            number=number,
            started_at="2026-01-01T00:00:00Z",
            seconds=1.0,
            figure=figure,
            line="",
            failed="" if figure is not None else "exit code 1",
            said=(),
            hosts=(),
        )
        for number, figure in enumerate(figures, 1)
    )
    return Labelled(workload, trials)


OLD = (10.0, 11.0, 12.0, 13.0)


def test_every_trial_above_every_other_is_better():
    pair = compare(labelled("before", *OLD), labelled("after", 14.0, 15.0, 16.0, 17.0))
    assert pair.verdict is Verdict.BETTER
    assert pair.are_apart
    # Medians 11.5 and 15.5.
    assert pair.difference == 4
    assert pair.difference_percent == pytest.approx(100 * 4 / 11.5)
    # 8 over 4.
    assert pair.orders == 70


def test_the_same_figures_are_worse_where_lower_is_better():
    pair = compare(
        labelled("before", *OLD, higher_is_better=False),
        labelled("after", 14.0, 15.0, 16.0, 17.0, higher_is_better=False),
    )
    assert pair.verdict is Verdict.WORSE
    back = compare(pair.after, pair.before)
    assert back.verdict is Verdict.BETTER


@pytest.mark.parametrize("new", [(12.9, 15.0, 16.0, 17.0), (13.0, 14.0, 15.0, 16.0), OLD])
def test_trials_that_overlap_or_touch_show_no_difference(new: tuple[float, ...]):
    pair = compare(labelled("before", *OLD), labelled("after", *new))
    assert pair.verdict is Verdict.OVERLAP
    assert not pair.are_apart


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        # 2 of 20 orders: one time in ten by chance.
        ((1.0, 2.0, 3.0), (7.0, 8.0, 9.0), Verdict.TOO_FEW),
        # 2 of 35: above one in twenty.
        ((1.0, 2.0, 3.0), (6.0, 7.0, 8.0, 9.0), Verdict.TOO_FEW),
        # 2 of 56: below.
        ((1.0, 2.0, 3.0), (5.0, 6.0, 7.0, 8.0, 9.0), Verdict.BETTER),
        ((1.0,), (100.0,), Verdict.TOO_FEW),
    ],
)
def test_few_trials_are_apart_by_chance(
    old: tuple[float, ...], new: tuple[float, ...], verdict: Verdict
):
    pair = compare(labelled("before", *old), labelled("after", *new))
    assert pair.verdict is verdict
    assert pair.are_apart


def test_a_trial_that_failed_counts_nowhere():
    pair = compare(labelled("before", *OLD, None), labelled("after", None, None))
    assert pair.before_spread is not None
    assert (pair.before_spread.n, pair.after_spread) == (4, None)
    assert (pair.verdict, pair.difference) == (Verdict.TOO_FEW, None)


def test_no_share_of_nothing():
    pair = compare(labelled("before", 0.0), labelled("after", 1.0))
    assert (pair.difference, pair.difference_percent) == (1, None)
