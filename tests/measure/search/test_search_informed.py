"""The search that predicts."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_cases import CEILING_PPS, Scripted, cliff, duts, goal

from wirespeed.measure.search.informed import search_informed
from wirespeed.measure.search.simulated import SimulatedDut, SimulatedMeasurer


def on(dut: SimulatedDut, seed: int = 1, **settings_: float | int | None):
    measurer = SimulatedMeasurer(dut, seed=seed)
    return measurer, search_informed(measurer, goal(relative_width=0.001, **settings_))


@pytest.mark.parametrize("width", [0.01, 0.001, 0.0001])
@pytest.mark.parametrize("capacity", [0.3e6, 3e6, 9.5e6])
def test_a_clean_cliff_takes_three_trials_at_any_width(width: float, capacity: float):
    measurer = SimulatedMeasurer(SimulatedDut(capacity_pps=capacity), seed=1)
    result = search_informed(measurer, goal(relative_width=width))
    assert result.verdict == "width met"
    assert result.trials == 3
    assert capacity * (1 - width) <= result.throughput_pps <= capacity
    assert [s.intended_load_pps > capacity for s in measurer.samples] == [True, True, False]


@settings(max_examples=60, deadline=None)
@given(dut=duts(with_floor=False), seed=st.integers(0, 99))
def test_a_bracket_never_takes_more_than_a_bounded_number_of_trials(dut: SimulatedDut, seed: int):
    _, result = on(dut, seed)
    assert result.trials <= 100


@settings(max_examples=60, deadline=None)
@given(
    capacity=st.floats(0.1e6, 9e6),
    livelock=st.floats(0, 0.5),
    seed=st.integers(0, 99),
    bias=st.one_of(st.none(), st.floats(-0.5, 0.5)),
    expected=st.one_of(st.none(), st.floats(0.05e6, 12e6)),
)
def test_a_wrong_prediction_costs_trials_and_never_accuracy(
    capacity: float, livelock: float, seed: int, bias: float | None, expected: float | None
):
    dut = SimulatedDut(capacity_pps=capacity, livelock_slope=livelock, prediction_bias=bias)
    measurer, result = on(dut, seed, expected_load_pps=expected)
    assert result.verdict == "width met"
    assert abs(result.throughput_pps / measurer.truth_pps - 1) <= 0.001
    assert result.trials <= 30


def test_cycles_per_packet_shorten_the_search_of_a_dut_in_livelock():
    trials = {
        bias: on(SimulatedDut(capacity_pps=3e6, livelock_slope=0.4, prediction_bias=bias))[1].trials
        for bias in (None, 0.01)
    }
    assert trials[0.01] < trials[None]


def test_an_expected_load_is_probed_first_by_a_mild_overload():
    measurer, result = on(SimulatedDut(capacity_pps=3e6), expected_load_pps=3e6)
    assert measurer.samples[0].intended_load_pps == pytest.approx(3.15e6)
    assert result.trials == 3
    beyond, _ = on(SimulatedDut(capacity_pps=3e6), expected_load_pps=3e9)
    assert beyond.samples[0].intended_load_pps == CEILING_PPS


def test_an_expected_load_far_too_low_does_not_cap_the_search():
    _, result = on(SimulatedDut(capacity_pps=2e7), expected_load_pps=1e6)
    assert result.verdict == "ceiling passed"
    assert result.throughput_pps == CEILING_PPS


def test_queues_that_help_short_trials_do_not_set_the_throughput():
    """16384 frames of ring let a 1 s trial pass at 0.5 % above what a 60 s trial can."""
    measurer, result = on(SimulatedDut(capacity_pps=3e6, queue_frames=16384))
    assert result.verdict == "width met"
    assert abs(result.throughput_pps / measurer.truth_pps - 1) <= 0.001
    upper = next(s for s in measurer.samples if s.trial == result.upper_trial)
    assert upper.intended_seconds == 60.0


@pytest.mark.parametrize("seed", range(5))
def test_a_knee_is_closed_in_on_from_its_loss_counts(seed: int):
    dut = SimulatedDut(capacity_pps=5e6, knee_pps=4e6, knee_loss_ratio=1e-2)
    measurer, result = on(dut, seed)
    assert result.verdict == "width met"
    assert abs(result.throughput_pps / measurer.truth_pps - 1) <= 0.0015
    assert result.trials <= 25


def test_a_lone_stall_in_the_confirmation_is_repeated_and_said():
    def stalls_once(load: float, seconds: float, number: int) -> int:
        return 500_000 if number == 3 else cliff(6e6)(load, seconds, number)

    measurer = Scripted(stalls_once)
    result = search_informed(measurer, goal(relative_width=0.001))
    loads = [s.intended_load_pps for s in measurer.samples]
    assert loads[2] == loads[3] == loads[4], "best of three"
    assert result.trials == 5
    assert result.verdict == "width met"
    assert result.found_load_pps == loads[2]
    assert any("1 of 3 trials of it did not" in note for note in result.notes)


def test_one_pass_does_not_outweigh_one_failure():
    def stalls_twice(load: float, seconds: float, number: int) -> int:
        return 500_000 if number in (3, 5) else cliff(6e6)(load, seconds, number)

    measurer = Scripted(stalls_twice)
    result = search_informed(measurer, goal(relative_width=0.001))
    assert result.upper_load_pps == measurer.samples[2].intended_load_pps
    assert result.throughput_pps is not None
    assert result.throughput_pps < result.upper_load_pps
    assert any("the load failed" in note for note in result.notes)


def test_failures_are_repeated_once_in_a_search_and_then_believed():
    measurer = Scripted(
        lambda load, seconds, n: 500_000 if seconds > 5 else cliff(6e6)(load, seconds, n)
    )
    search_informed(measurer, goal(relative_width=0.001))
    full = [s.intended_load_pps for s in measurer.samples if s.intended_seconds > 5]
    repeats = [a == b for a, b in itertools.pairwise(full)]
    assert sum(repeats) == 1, "the first repeat failed as well, so it was the last"


def test_a_load_confirmed_far_below_does_not_confirm_the_bracket():
    """Found by hypothesis: a floor was suspected and refuted at full length, an eighth down."""
    dut = SimulatedDut(capacity_pps=18279121.0, knee_pps=2284890.125, knee_loss_ratio=1e-5)
    measurer = SimulatedMeasurer(dut, seed=242)
    result = search_informed(
        measurer, goal(relative_width=0.001, trial_seconds=0.1, confirm_seconds=10.0)
    )
    assert result.verdict == "width met"
    assert result.width is not None
    assert result.width <= 0.001
    stopped = search_informed(
        SimulatedMeasurer(dut, seed=242),
        goal(relative_width=0.001, trial_seconds=0.1, confirm_seconds=10.0, max_trials=7),
    )
    assert measurer.samples[6].missing_frames == 0, "a short pass above the confirmed load"
    assert stopped.verdict == "wider than goal"
    assert stopped.found_load_pps == measurer.samples[5].intended_load_pps
    assert stopped.throughput_pps == pytest.approx(stopped.found_load_pps)


def test_where_predictions_do_not_close_the_bracket_it_is_halved():
    """A deep knee at a low load loses too few frames to predict from: hundreds of small steps."""
    dut = SimulatedDut(capacity_pps=25_600, knee_pps=6_204, knee_loss_ratio=0.01)
    for seed in range(10):
        asked = goal(
            max_load_pps=195e3,
            min_load_pps=5e3,
            relative_width=1e-4,
            trial_seconds=0.1,
            confirm_seconds=10.0,
        )
        assert search_informed(SimulatedMeasurer(dut, seed=seed), asked).trials <= 80


def test_at_its_bound_a_search_keeps_the_lower_load_that_it_had_confirmed():
    measurer = SimulatedMeasurer(SimulatedDut(capacity_pps=3e6, queue_frames=16384), seed=1)
    result = search_informed(measurer, goal(relative_width=0.001, max_trials=5))
    assert result.verdict == "wider than goal"
    assert measurer.samples[4].missing_frames == 0
    assert result.confirmed_trial == 5
    assert result.found_load_pps == measurer.samples[4].intended_load_pps
    assert any("max_trials" in note for note in result.notes)


def test_a_load_that_failed_below_one_that_passed_is_said():
    measurer = Scripted(lambda load, s, n: cliff(6e6 if s < 5 else 5.5e6)(load, s, n))
    result = search_informed(measurer, goal(relative_width=0.001, expected_load_pps=5.6e6))
    passed_short = [s for s in measurer.samples if s.missing_frames == 0 and s.intended_seconds < 5]
    assert passed_short
    assert any("although" in note and "counts" in note for note in result.notes)
    assert result.throughput_pps is not None
    assert result.throughput_pps <= 5.5e6


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("floor", [1e-6, 1e-5, 1e-3])
def test_a_loss_floor_is_recognised_and_its_knee_reported(floor: float, seed: int):
    dut = SimulatedDut(capacity_pps=6e6, capacity_sigma=1e-4, loss_floor=floor)
    _, result = on(dut, seed)
    assert result.verdict == "loss floor"
    assert result.loss_floor == pytest.approx(floor, rel=0.5)
    assert result.throughput_pps is None
    assert result.trials <= 15
    assert result.pdr_load_pps == pytest.approx(6e6, rel=0.05)
    assert result.pdr_loss_ratio == pytest.approx(2 * result.loss_floor)
    assert result.lost_frames > 0


@pytest.mark.parametrize("seed", range(10))
def test_no_floor_is_seen_where_there_is_none(seed: int):
    for dut in (
        SimulatedDut(capacity_pps=6e6, capacity_sigma=1e-3),
        SimulatedDut(capacity_pps=6e6, knee_pps=1e6, knee_loss_ratio=1e-3),
        SimulatedDut(capacity_pps=5e3),
    ):
        assert on(dut, seed)[1].loss_floor is None


def slow_until(second: int) -> Scripted:
    """A DUT of 3 Mpps on a machine that forwards half of that in trials 3 to `second`."""
    return Scripted(
        lambda load, seconds, number: cliff(1.5e6 if 3 <= number <= second else 3e6)(
            load, seconds, number
        )
    )


def test_a_second_in_which_the_machine_was_slow_sets_no_bound():
    believed = search_informed(slow_until(6), goal(relative_width=0.02))
    assert believed.upper_load_pps < 2.5e6, "what the test is about"
    doubted = search_informed(slow_until(6), goal(relative_width=0.02, doubts=3))
    assert doubted.verdict == "width met"
    assert 3e6 * 0.98 <= doubted.throughput_pps <= 3e6
    assert any("its failure does not count" in note for note in doubted.notes)


def test_a_bound_that_fails_again_costs_one_trial():
    dut = SimulatedDut(capacity_pps=3e6)
    once = search_informed(SimulatedMeasurer(dut, seed=1), goal(relative_width=0.02))
    twice = search_informed(SimulatedMeasurer(dut, seed=1), goal(relative_width=0.02, doubts=3))
    assert twice.trials == once.trials + 1
    assert twice.throughput_pps == once.throughput_pps


@settings(max_examples=60, deadline=None)
@given(capacity=st.floats(0.1e6, 9e6), livelock=st.floats(0, 0.5), seed=st.integers(0, 99))
def test_doubt_proves_no_more_than_the_capacity(capacity: float, livelock: float, seed: int):
    measurer, result = on(
        SimulatedDut(capacity_pps=capacity, livelock_slope=livelock), seed, doubts=3
    )
    assert abs(result.throughput_pps / measurer.truth_pps - 1) <= 0.001


def test_the_load_found_passes_as_many_confirming_trials_as_are_asked_for():
    measurer = Scripted(cliff(3e6))
    result = search_informed(measurer, goal(relative_width=0.02, confirmations=3))
    found = [s for s in measurer.samples if s.intended_load_pps == result.found_load_pps]
    assert len(found) == 3
    assert len(measurer.samples) == 5, "only the last load is confirmed more than once"


def test_a_load_whose_second_confirmation_fails_is_not_what_is_found():
    measurer = Scripted(lambda load, seconds, n: 9 if n == 4 else cliff(3e6)(load, seconds, n))
    result = search_informed(measurer, goal(relative_width=0.02, confirmations=3))
    assert result.found_load_pps < measurer.samples[3].intended_load_pps
    assert result.upper_load_pps == measurer.samples[3].intended_load_pps
    assert result.throughput_pps is not None


def test_a_failure_that_was_taken_back_is_none_of_the_confirming_trials():
    measurer = slow_until(6)
    result = search_informed(measurer, goal(relative_width=0.02, doubts=3, confirmations=3))
    tried = [s for s in measurer.samples if s.intended_load_pps == result.found_load_pps]
    assert sum(not s.missing_frames for s in tried) >= 3
