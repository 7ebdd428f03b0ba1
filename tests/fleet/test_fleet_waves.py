"""Waves: a canary, then shares; no wave has failed until more fail than may."""

import pytest

from wirespeed.fleet.waves import USUAL, Planned, cut_waves, spread_over
from wirespeed.model.error import InputError

NAMES = tuple(f"n{i:02}" for i in range(40))


@pytest.mark.parametrize(
    ("steps", "count", "sizes"),
    [
        (USUAL, 40, [1, 3, 16, 20]),
        (USUAL, 1, [1]),
        ("1,30%,100%", 20, [1, 5, 14]),
        ("2,5", 20, [2, 3, 15]),
        ("1,500", 20, [1, 19]),
        ("100%", 7, [7]),
    ],
)
def test_each_step_counts_all_hosts_up_to_it(steps: str, count: int, sizes: list[int]):
    waves = cut_waves(NAMES[:count], steps)
    assert [len(wave) for wave in waves] == sizes
    assert [name for wave in waves for name in wave] == list(NAMES[:count])


@pytest.mark.parametrize("steps", ["", "0", "x", "1,,2", "101%", "50%,10%", "1.5", "-1"])
def test_what_is_no_number_or_falls_is_refused(steps: str):
    with pytest.raises(InputError):
        cut_waves(NAMES, steps)


def test_a_canary_that_fails_stops_the_fleet_whatever_the_bound_below_100():
    assert Planned((("a",),), 0.99).has_failed(1, 1)
    assert not Planned((("a",),), 0.05).has_failed(0, 1)


def test_as_many_as_may_fail_do_not_stop_it_and_one_more_does():
    planned = Planned((NAMES,), 0.05)
    assert not planned.has_failed(2, 40)
    assert planned.has_failed(3, 40)


def test_neighbours_are_in_different_racks():
    racks = {name: f"r{number // 10}" for number, name in enumerate(NAMES)}
    ordered = spread_over(NAMES, racks)
    assert sorted(ordered) == list(NAMES)
    assert {racks[name] for name in ordered[:4]} == {"r0", "r1", "r2", "r3"}
    assert spread_over(NAMES, {}) == list(NAMES)
