"""The simulated DUTs do what their fields say, and the truth is the truth."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from search_cases import duts

from wirespeed.measure.search.simulated import SimulatedDut, SimulatedMeasurer


def lost(dut: SimulatedDut, load: float, seconds: float = 1.0, seed: int = 0) -> int:
    return SimulatedMeasurer(dut, seed=seed).measure(load, seconds, "search").missing_frames


@settings(max_examples=200, deadline=None)
@given(
    dut=duts(),
    seed=st.integers(0, 999),
    load=st.floats(0.1, 3e7),
    seconds=st.sampled_from([0.01, 1.0, 60.0]),
)
def test_counts_are_consistent(dut: SimulatedDut, seed: int, load: float, seconds: float):
    sample = SimulatedMeasurer(dut, seed=seed).measure(load, seconds, "search")
    assert sample.offered_frames == math.floor(load * seconds)
    assert 0 <= sample.missing_frames <= sample.offered_frames
    assert (sample.measured_seconds, sample.trial) == (seconds, 1)


def test_a_cliff_loses_exactly_what_exceeds_it():
    dut = SimulatedDut(capacity_pps=1e6)
    assert lost(dut, 1e6) == 0
    assert lost(dut, 1e6 + 1) == 1
    assert lost(dut, 1.5e6, 2.0) == 1_000_000
    assert dut.truth_pps(60.0) == pytest.approx(1e6, rel=1e-9)


def test_a_queue_forgives_so_many_frames_and_less_in_a_longer_trial():
    dut = SimulatedDut(capacity_pps=1e6, queue_frames=1000)
    assert lost(dut, 1_001_000) == 0
    assert lost(dut, 1_001_000, 10.0) == 9000
    assert dut.truth_pps(10.0) == pytest.approx(1e6 + 100, rel=1e-9)


def test_livelock_forwards_less_the_more_is_offered():
    dut = SimulatedDut(capacity_pps=1e6, livelock_slope=0.5)
    assert lost(dut, 1.2e6) == pytest.approx(0.3e6, abs=1)
    assert lost(dut, 10e6) == pytest.approx(9.9e6, abs=1)


def test_a_floor_loses_its_share_at_any_load():
    dut = SimulatedDut(capacity_pps=1e6, loss_floor=1e-3)
    for load in (1e4, 1e5, 1e6):
        assert lost(dut, load, 60.0) == pytest.approx(load * 0.06, rel=0.2)


def test_stalls_strike_below_capacity_now_and_then():
    dut = SimulatedDut(capacity_pps=1e6, stalls_per_second=0.1, stall_seconds=1e-3)
    measurer = SimulatedMeasurer(dut, seed=1)
    losses = [measurer.measure(5e5, 1.0, "search").missing_frames for _ in range(1000)]
    stalled = [n for n in losses if n]
    assert 60 < len(stalled) < 140
    assert all(n % 500 == 0 for n in stalled)


@pytest.mark.parametrize(
    "dut",
    [
        SimulatedDut(capacity_pps=1e6, capacity_sigma=1e-3),
        SimulatedDut(capacity_pps=1e6, capacity_sigma=1e-3, queue_frames=4000, livelock_slope=0.5),
        SimulatedDut(capacity_pps=1e6, knee_pps=8e5, knee_loss_ratio=1e-2),
        SimulatedDut(capacity_pps=1e6, capacity_sigma=1e-2, knee_pps=9.9e5, knee_loss_ratio=1e-3),
    ],
)
def test_half_of_the_trials_at_the_truth_lose_nothing(dut: SimulatedDut):
    measurer = SimulatedMeasurer(dut, seed=3, confirm_seconds=10.0)
    clean = sum(
        measurer.measure(measurer.truth_pps, 10.0, "confirm").missing_frames == 0
        for _ in range(2000)
    )
    assert clean == pytest.approx(1000, abs=4.5 * math.sqrt(500))


def test_poisson_counts_have_their_mean_and_variance():
    for mean_frames in (0.5, 5.0, 45.0, 500.0):
        dut = SimulatedDut(capacity_pps=1e7, loss_floor=mean_frames / 1e6)
        measurer = SimulatedMeasurer(dut, seed=5)
        counts = [measurer.measure(1e6, 1.0, "search").missing_frames for _ in range(4000)]
        mean = sum(counts) / len(counts)
        variance = sum((c - mean) ** 2 for c in counts) / len(counts)
        assert mean == pytest.approx(mean_frames, rel=0.1)
        assert variance == pytest.approx(mean_frames, rel=0.15)


def test_the_same_seed_gives_the_same_counts():
    dut = SimulatedDut(capacity_pps=1e6, capacity_sigma=1e-3, loss_floor=1e-4)

    def counts(seed: int) -> list[int]:
        measurer = SimulatedMeasurer(dut, seed=seed)
        return [measurer.measure(1e6, 1.0, "search").missing_frames for _ in range(20)]

    assert counts(1) == counts(1)
    assert counts(1) != counts(2)


def test_cycles_are_only_told_when_the_dut_tells_them():
    silent = SimulatedMeasurer(SimulatedDut(capacity_pps=1e6), seed=0)
    assert silent.measure(1e5, 1.0, "probe").predicted_capacity_pps is None
    telling = SimulatedMeasurer(SimulatedDut(capacity_pps=1e6, prediction_bias=0.1), seed=0)
    assert telling.measure(1e5, 1.0, "probe").predicted_capacity_pps == pytest.approx(1.1e6)


def test_a_knee_above_the_cliff_is_refused():
    with pytest.raises(ValidationError, match="not below capacity"):
        SimulatedDut(capacity_pps=1e6, knee_pps=1e6)
