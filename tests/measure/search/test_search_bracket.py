"""What counts as passed, as the bracket, and as proven."""

import pytest
from search_cases import CEILING_PPS, goal

from wirespeed.measure.search.bracket import Bracket
from wirespeed.measure.search.log import passed, unsent_frames
from wirespeed.measure.search.measurer import Sample


def sample(load: float, *, missing: int = 0, seconds: float = 1.0, offered: int | None = None):
    return Sample(
        trial=1,
        intended_load_pps=load,
        intended_seconds=seconds,
        measured_seconds=seconds,
        offered_frames=int(load * seconds) if offered is None else offered,
        missing_frames=missing,
    )


def bracket(*samples: Sample, width: float = 0.01) -> Bracket:
    one = Bracket(goal(relative_width=width))
    for each in samples:
        one.add(each)
    return one


def test_zero_loss_is_a_pass_only_if_something_was_offered():
    assert passed(sample(1e6))
    assert not passed(sample(1e6, missing=1))
    assert not passed(sample(1e6, missing=-1))
    assert not passed(sample(1e6, offered=0))
    assert not passed(sample(1.0, offered=0)), "not even where a single frame was due"


def test_unsent_frames_are_those_that_pacing_does_not_explain():
    assert unsent_frames(sample(1e6, offered=999_000)) == 0
    assert unsent_frames(sample(1e6, offered=998_999)) == 1001
    assert unsent_frames(sample(10.0, offered=9)) == 0
    assert unsent_frames(sample(10.0, offered=8)) == 2
    assert unsent_frames(sample(1e6, offered=1_000_500)) == 0


def test_a_failure_takes_back_every_pass_at_or_above_it():
    one = bracket(sample(5e6), sample(4e6), sample(3e6), sample(4e6, missing=1, seconds=60))
    assert one.loads_pps == (3e6, 4e6)
    assert one.gap_pps == 1e6


def test_only_a_pass_of_the_full_duration_is_confirmed():
    one = bracket(sample(5e6, missing=1), sample(4.99e6))
    assert one.is_closed
    assert one.confirmed is None
    assert one.proven is None
    one.add(sample(4.99e6, seconds=60))
    assert one.lower is one.confirmed is not None
    assert one.proven == "width met"


def test_a_confirmed_load_proves_as_much_as_its_bracket_is_wide():
    assert bracket(sample(4e6, seconds=60)).proven == "wider than goal"
    assert bracket(sample(CEILING_PPS, seconds=60)).proven == "ceiling passed"
    assert bracket(sample(5e6, missing=1), sample(4e6, seconds=60)).proven == "wider than goal"
    above = bracket(sample(5e6, missing=1), sample(4.96e6, seconds=60), sample(4.97e6))
    assert above.proven == "width met"


@pytest.mark.parametrize("load", [CEILING_PPS / 2, CEILING_PPS])
def test_an_open_end_is_closed_by_the_ceiling_alone(load: float):
    assert bracket(sample(load)).is_closed == (load == CEILING_PPS)
    assert not bracket(sample(load, missing=1)).is_closed
    assert bracket(sample(load)).gap_pps is None
