"""Predictions from loss counts."""

import pytest

from wirespeed.measure.search.crossing import (
    implied_capacity_pps,
    is_soft,
    predict_cliff,
    predict_knee,
)
from wirespeed.measure.search.measurer import Sample


def failed(load: float, missing_pps: float, seconds: float = 1.0) -> Sample:
    return Sample(
        trial=1,
        intended_load_pps=load,
        intended_seconds=seconds,
        measured_seconds=seconds,
        offered_frames=round(load * seconds),
        missing_frames=round(missing_pps * seconds),
    )


def test_one_overload_predicts_the_capacity_that_it_forwarded():
    assert predict_cliff([failed(10e6, 4e6)], 0.001) == pytest.approx(6e6)
    assert implied_capacity_pps(failed(10e6, 4e6)) == pytest.approx(6e6)


def test_two_overloads_see_through_livelock():
    slope = 1.4
    samples = [failed(load, slope * (load - 6e6)) for load in (10e6, 7e6)]
    assert predict_cliff(samples, 0.001) == pytest.approx(6e6)


def test_near_trials_are_averaged():
    samples = [failed(6.01e6, 6e3), failed(6.012e6, 16e3)]
    assert predict_cliff(samples, 0.001) == pytest.approx(6e6)


def test_a_longer_trial_outranks_short_ones_nearby():
    samples = [failed(6.01e6, 1e3), failed(6.005e6, 15e3, seconds=60)]
    assert predict_cliff(samples, 0.001) == pytest.approx(5.99e6)


def test_the_prediction_is_never_above_what_failed():
    assert predict_cliff([failed(6e6, 1), failed(6.02e6, 1)], 0.001) <= 6e6


def test_a_quadratic_knee_is_found_by_its_square_root():
    def knee(load: float) -> Sample:
        return failed(load, load * 1e-2 * ((load - 4e6) / 1e6) ** 2)

    samples = [knee(4.8e6), knee(4.4e6), failed(10e6, 5e6)]
    assert is_soft(samples, 0.001)
    assert predict_knee(samples) == pytest.approx(4e6, rel=1e-3)


def test_a_cliff_is_not_soft_nor_one_trial_a_knee():
    assert not is_soft([failed(6.1e6, 0.1e6), failed(7e6, 1e6)], 0.001)
    assert not is_soft([failed(6.1e6, 0.1e6)], 0.001)
    assert predict_knee([failed(6.1e6, 0.1e6)]) is None


def test_equal_loss_ratios_predict_no_knee():
    assert predict_knee([failed(4e6, 40), failed(5e6, 50)]) is None
    assert predict_knee([failed(4e6, 60), failed(5e6, 50)]) is None
    assert predict_knee([failed(4e6, 39), failed(5e6, 80)]) is None, "no more than chance"
