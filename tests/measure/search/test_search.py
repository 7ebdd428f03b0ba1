"""What holds for every search, whatever the DUT does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from search_cases import CEILING_PPS, LOWEST_PPS, METHODS, Scripted, cliff, duts, goal

from wirespeed.measure.search.measurer import Purpose, Sample
from wirespeed.measure.search.search import Method, Progress, SearchResult, search
from wirespeed.measure.search.simulated import SimulatedDut, SimulatedMeasurer
from wirespeed.model.error import MeasurementError

methods = pytest.mark.parametrize("method", METHODS)
PROVEN = {"width met", "ceiling passed", "wider than goal"}


@methods
@settings(max_examples=60, deadline=None)
@given(
    dut=duts(),
    seed=st.integers(0, 999),
    width=st.sampled_from([0.001, 0.005, 0.05]),
    trial_seconds=st.sampled_from([0.1, 1.0, 10.0]),
)
def test_a_result_says_no_more_than_its_trials(
    method: Method, dut: SimulatedDut, seed: int, width: float, trial_seconds: float
):
    asked = goal(
        relative_width=width,
        trial_seconds=trial_seconds,
        confirm_seconds=10.0,
        trials_per_load=3,
        max_trials=200,
    )
    measurer = SimulatedMeasurer(dut, seed=seed, confirm_seconds=10.0)
    result = search(method, measurer, asked)

    by_number = {s.trial: s for s in measurer.samples}
    assert result.trials == len(measurer.samples) <= asked.max_trials
    assert result.seconds == pytest.approx(sum(s.measured_seconds for s in measurer.samples))
    assert all(LOWEST_PPS <= s.intended_load_pps <= CEILING_PPS for s in measurer.samples)
    assert (result.throughput_pps is not None) == (result.verdict in PROVEN)

    if result.confirmed_trial is not None:
        confirming = by_number[result.confirmed_trial]
        assert confirming.missing_frames == 0 < confirming.offered_frames
        assert confirming.intended_seconds == result.confirmed_seconds == 10.0
        assert result.found_load_pps == confirming.intended_load_pps
        assert result.throughput_pps == pytest.approx(confirming.intended_load_pps, rel=1e-4)
        assert result.lost_frames == 0
    else:
        assert result.throughput_pps is None
        assert result.confirmed_seconds == 0
    if result.upper_trial is not None:
        upper = by_number[result.upper_trial]
        assert upper.intended_load_pps == result.upper_load_pps
        assert upper.missing_frames > 0
    if result.found_load_pps is not None:
        last = [s for s in measurer.samples if s.intended_load_pps == result.found_load_pps][-1]
        assert last.missing_frames == 0
        assert result.upper_load_pps is None or result.found_load_pps < result.upper_load_pps

    if result.verdict == "width met":
        assert result.width is not None
        assert result.width <= width * 1.000001
    if result.verdict == "ceiling passed":
        assert result.found_load_pps == CEILING_PPS
        assert result.upper_load_pps is None
    if result.verdict == "wider than goal":
        assert result.width is None or result.width > width


@methods
def test_the_ceiling_is_found_when_everything_passes(method: Method):
    measurer = Scripted(lambda *_: 0)
    result = search(method, measurer, goal(confirm_seconds=2.0))
    assert result.verdict == "ceiling passed"
    assert (result.found_load_pps, result.upper_load_pps) == (CEILING_PPS, None)
    assert result.throughput_pps == CEILING_PPS
    assert (result.upper_trial, result.width, result.loss_floor) == (None, None, None)
    assert measurer.purposes[-1] == "confirm"
    assert measurer.samples[-1].intended_seconds == 2.0


@methods
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_nothing_is_proven_when_nothing_passes(method: Method, share: float):
    measurer = Scripted(lambda load, seconds, _: int(load * seconds * share))
    result = search(method, measurer, goal())
    assert result.verdict == "nothing passed"
    assert (result.throughput_pps, result.found_load_pps) == (None, None)
    assert result.upper_load_pps == LOWEST_PPS
    assert result.lost_frames == measurer.samples[-1].missing_frames > 0


@methods
def test_a_trial_that_offered_nothing_is_never_lossless(method: Method):
    result = search(method, Scripted(lambda *_: 0, offered_share=0.0), goal())
    assert result.throughput_pps is None
    assert result.found_load_pps is None


@methods
def test_unsent_frames_are_bad_but_rounding_to_whole_bursts_is_not(method: Method):
    unsent = search(method, Scripted(lambda *_: 0, offered_share=0.99), goal())
    assert unsent.throughput_pps is None
    rounded = search(method, Scripted(lambda *_: 0, offered_share=0.9995), goal())
    assert rounded.verdict == "ceiling passed"
    assert rounded.throughput_pps == pytest.approx(0.9995 * CEILING_PPS)


@methods
def test_more_frames_back_than_sent_is_no_pass(method: Method):
    assert search(method, Scripted(lambda *_: -1), goal()).throughput_pps is None


@methods
@pytest.mark.parametrize("at_trial", [1, 2, 3])
def test_a_measurement_error_comes_through_at_once(method: Method, at_trial: int):
    def missing(load: float, seconds: float, number: int) -> int:
        if number == at_trial:
            raise MeasurementError("tester.died", where="lcore 1")
        return cliff(6e6)(load, seconds, number)

    measurer = Scripted(missing)
    with pytest.raises(MeasurementError, match=r"tester\.died"):
        search(method, measurer, goal())
    assert len(measurer.samples) == at_trial - 1


@methods
def test_void_trials_are_counted_apart(method: Method):
    measurer = Scripted(cliff(6e6), invalid=2)
    result = search(method, measurer, goal())
    assert result.invalid_trials == 2 * result.trials
    assert result.trials == len(measurer.samples)


@methods
@pytest.mark.parametrize("bound", [1, 2, 5])
def test_a_search_stops_at_its_bound_with_what_it_knows(method: Method, bound: int):
    measurer = Scripted(lambda load, seconds, n: max(1, cliff(1e6)(load, seconds, n)))
    result = search(method, measurer, goal(max_trials=bound))
    assert result.trials == len(measurer.samples) == bound
    assert result.verdict == "trials exhausted"
    assert result.throughput_pps is None
    assert result.upper_load_pps is not None


@methods
def test_a_load_that_fails_its_confirmation_is_the_upper_bound(method: Method):
    def leaks_after_five_seconds(load: float, seconds: float, number: int) -> int:
        return cliff(6e6 if seconds < 5 else 5.9e6)(load, seconds, number)

    measurer = Scripted(leaks_after_five_seconds)
    result = search(method, measurer, goal(relative_width=0.005))
    assert result.throughput_pps is not None
    assert 5.7e6 < result.throughput_pps <= 5.9e6
    assert result.upper_load_pps is not None
    assert 5.9e6 < result.upper_load_pps < 6e6
    assert any("lost" in note for note in result.notes)


@methods
def test_confirmations_are_bounded(method: Method):
    measurer = Scripted(lambda load, seconds, n: 1 if seconds > 5 else cliff(6e6)(load, seconds, n))
    result = search(method, measurer, goal(max_confirmations=3))
    assert result.verdict == "not confirmed"
    assert result.throughput_pps is None
    full_length = [s for s in measurer.samples if s.intended_seconds > 5]
    assert 3 <= len(full_length) <= 5, "informed may repeat one of them twice"
    assert result.lost_frames == 1


def test_where_three_trials_must_pass_more_of_them_may_fail():
    made, base = 0, cliff(6e6)

    def every_second_one(load: float, seconds: float, number: int) -> int:
        nonlocal made
        made += seconds > 5
        return 1 if seconds > 5 and made <= 20 and made % 2 == 0 else base(load, seconds, number)

    asked = goal(max_confirmations=8, confirmations=3, relative_width=0.02)
    result = search("informed", Scripted(every_second_one), asked)
    assert (made > 20, result.verdict) == (True, "width met")


@methods
def test_the_observer_sees_every_trial_before_it_is_made(method: Method):
    measurer = Scripted(cliff(6e6))
    seen: list[Progress] = []

    def observe(progress: Progress) -> None:
        assert progress.trials_done == len(measurer.samples)
        seen.append(progress)

    search(method, measurer, goal(confirm_seconds=3.0), observe)
    assert [p.load_pps for p in seen] == [s.intended_load_pps for s in measurer.samples]
    assert [p.purpose for p in seen] == measurer.purposes
    assert all(p.trials_left >= 1 and p.seconds_left >= p.seconds for p in seen)
    last = seen[-1]
    assert (last.purpose, last.trials_left, last.seconds_left) == ("confirm", 1, 3.0)
    assert last.upper_load_pps is not None
    for one in seen:
        if one.lower_load_pps is not None and one.upper_load_pps is not None:
            assert one.lower_load_pps < one.upper_load_pps


@methods
def test_the_same_trials_give_the_same_result(method: Method):
    dut = SimulatedDut(capacity_pps=4e6, capacity_sigma=1e-3)

    def once() -> SearchResult:
        return search(method, SimulatedMeasurer(dut, seed=7), goal())

    assert once() == once()


@methods
def test_a_trial_without_duration_is_an_error(method: Method):
    class Instant:
        def measure(self, load_pps: float, seconds: float, purpose: Purpose) -> Sample:
            assert purpose
            return Sample(
                trial=1,
                intended_load_pps=load_pps,
                intended_seconds=seconds,
                measured_seconds=0.0,
                offered_frames=100,
                missing_frames=0,
            )

    with pytest.raises(MeasurementError, match="trial_without_duration"):
        search(method, Instant(), goal())


def test_a_goal_refuses_bounds_that_are_not_in_order():
    with pytest.raises(ValidationError, match="not below max_load_pps"):
        goal(min_load_pps=CEILING_PPS)
    with pytest.raises(ValidationError, match="shorter than"):
        goal(trial_seconds=2.0, confirm_seconds=1.0)


def test_a_result_prints_its_tolerance():
    exact = search("rfc2544", Scripted(cliff(6e6)), goal(relative_width=0.01))
    assert exact.tolerance.model_dump() == {
        "relative_width": 0.01,
        "loss_ratio": 0.0,
        "exceed_ratio": 0.0,
    }
    forgiving = search("mlrsearch", Scripted(cliff(6e6)), goal(exceed_ratio=0.25))
    assert forgiving.tolerance.exceed_ratio == 0.25
