"""The comparison counts right, and the goal of `informed` holds on every simulated DUT."""

import pytest

from wirespeed.measure.search.compare import (
    DUTS,
    INFORMED,
    MLRSEARCH,
    Attempt,
    GoalCheck,
    attempt,
    compare,
    goal_checks,
    rows,
)


@pytest.fixture(scope="module")
def attempts() -> list[Attempt]:
    return compare(contenders=[MLRSEARCH, INFORMED])


def test_informed_needs_at_most_a_third_of_mlrsearchs_trials_with_no_larger_error(
    attempts: list[Attempt],
):
    checks = goal_checks(attempts, [MLRSEARCH.name])
    assert [c.dut for c in checks] == list(DUTS)
    assert [c.dut for c in checks if not c.met] == []
    assert all(c.n == 20 and c.ratio_min <= c.ratio_median <= c.ratio_max for c in checks)


def test_informed_proves_a_throughput_on_every_dut_without_a_floor(attempts: list[Attempt]):
    for row in rows(attempts):
        if row.contender == INFORMED.name:
            has_floor = "floor" in row.dut
            assert (row.proven, row.floors) == ((0, 20) if has_floor else (20, 0)), row.dut


def test_a_row_sums_up_its_attempts(attempts: list[Attempt]):
    mine = [a for a in attempts if a.dut == "cliff, noise 1e-3" and a.contender == INFORMED.name]
    row = next(r for r in rows(mine))
    errors = [a.result.throughput_pps / a.truth_pps - 1 for a in mine if a.result.throughput_pps]
    assert row.searches == row.proven == len(errors) == 20
    assert row.trials_max == max(a.result.trials for a in mine)
    assert row.error_worst == pytest.approx(max(map(abs, errors)))
    assert row.error_spread == pytest.approx(max(errors) - min(errors))


def test_the_goal_is_not_met_by_more_trials_or_by_a_larger_error(attempts: list[Attempt]):
    ours = [a for a in attempts if a.dut == "cliff" and a.contender == INFORMED.name]
    theirs = [a for a in attempts if a.dut == "cliff" and a.contender == MLRSEARCH.name]

    def check(**changes: float | int | None) -> GoalCheck:
        changed = [
            a.model_copy(update={"result": a.result.model_copy(update=changes)}) for a in ours
        ]
        return goal_checks([*changed, *theirs], [MLRSEARCH.name])[0]

    assert check().met
    assert check(trials=12).met
    assert not check(trials=13).met
    assert not check(throughput_pps=1.0).met
    assert not check(throughput_pps=None).met
    outlier = ours[0].model_copy(
        update={"result": ours[0].result.model_copy(update={"throughput_pps": 1.0})}
    )
    assert not goal_checks([outlier, *ours[1:], *theirs], [MLRSEARCH.name])[0].met


def test_an_attempt_is_repeatable():
    assert attempt("livelock", INFORMED, 3) == attempt("livelock", INFORMED, 3)
