"""What counts as a loss floor."""

import pytest

from wirespeed.measure.search.floor import recognise_loss_floor, same_ratio
from wirespeed.measure.search.measurer import Sample


def sample(load: float, missing: int, seconds: float = 1.0) -> Sample:
    return Sample(
        trial=1,
        intended_load_pps=load,
        intended_seconds=seconds,
        measured_seconds=seconds,
        offered_frames=int(load * seconds),
        missing_frames=missing,
    )


def test_the_same_share_lost_over_a_factor_of_eight_is_a_floor():
    floor = recognise_loss_floor(
        [sample(9e6, 3_000_000), sample(8e6, 80), sample(4e6, 40), sample(1e6, 10)]
    )
    assert floor is not None
    assert floor.loss_ratio == pytest.approx(1e-5)
    assert floor.knee_load_pps == 8e6
    assert floor.knee_loss_ratio == pytest.approx(2e-5)


@pytest.mark.parametrize(
    "samples",
    [
        pytest.param([sample(8e6, 80), sample(4e6, 40), sample(2e6, 20)], id="too narrow"),
        pytest.param([sample(8e6, 80), sample(1e6, 10)], id="two loads"),
        pytest.param([sample(8e6, 80), sample(4e6, 40), sample(1e6, 1)], id="too few lost"),
        pytest.param([sample(8e6, 640), sample(4e6, 160), sample(1e6, 10)], id="a knee"),
        pytest.param([sample(8e6, 800), sample(4e6, 400), sample(1e6, 0)], id="a pass below"),
        pytest.param([sample(8e6, 0), sample(4e6, 0), sample(1e6, 0)], id="no loss"),
        pytest.param(
            [sample(8e6, 8_000_000), sample(4e6, 4_000_000), sample(1e6, 1_000_000)],
            id="a dead DUT",
        ),
        pytest.param([], id="nothing"),
    ],
)
def test_no_floor(samples: list[Sample]):
    assert recognise_loss_floor(samples) is None


def test_trials_of_one_load_are_pooled():
    many = [sample(1e6, 1) for _ in range(12)]
    floor = recognise_loss_floor([sample(8e6, 8), sample(4e6, 4), *many])
    assert floor is not None
    assert floor.loss_ratio == pytest.approx(1e-6)


def test_a_pass_too_short_to_lose_a_frame_does_not_hide_a_floor():
    floor = recognise_loss_floor(
        [sample(8e6, 80), sample(4e6, 40), sample(1e6, 10), sample(1e4, 0)]
    )
    assert floor is not None
    assert floor.loss_ratio == pytest.approx(1e-5, rel=0.01)


def test_ratios_agree_by_chance_or_within_a_factor_of_two():
    assert same_ratio(10**6, 0, 1e-5)
    assert not same_ratio(10**7, 0, 1e-5)
    assert same_ratio(10**9, 19_000, 1e-5)
    assert not same_ratio(10**9, 21_000, 1e-5)
