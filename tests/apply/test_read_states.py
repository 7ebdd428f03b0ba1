"""A state that is not there at once is waited for, and not for ever."""

from collections.abc import Sequence

import pytest

from wirespeed.apply import read_states
from wirespeed.apply.control import Changed
from wirespeed.apply.read_states import settled
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import State, Step
from wirespeed.steps.link_mode import LinkMode
from wirespeed.steps.rings import Rings

STEP = LinkMode(netdev="eth0", autoneg=True)
DOWN: Observed[State] = Unreadable("no link yet", "ethtool eth0")
UP: Observed[State] = Known({"autoneg": True}, "ethtool eth0")


class Readings:
    """Gives one reading after the other, the last one for ever."""

    def __init__(self, *found: Observed[State]) -> None:
        self.found, self.count = list(found), 0

    def __call__(self, steps: Sequence[Step]) -> list[Observed[State]]:
        assert len(steps) == 1
        self.count += 1
        return [self.found.pop(0) if len(self.found) > 1 else self.found[0]]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(read_states, "PAUSE_S", 0.001)


def test_a_link_that_comes_back_is_waited_for():
    readings = Readings(DOWN, DOWN, UP)
    assert settled(readings, STEP, Changed("", DOWN)).now == UP
    assert readings.count == 3


def test_a_state_that_is_known_is_not_read_again():
    readings = Readings(DOWN)
    assert settled(readings, STEP, Changed("", UP)).now == UP
    assert readings.count == 0


def test_a_command_that_failed_is_no_reason_to_wait():
    readings = Readings(UP)
    assert settled(readings, STEP, Changed("ethtool: 1", DOWN)).now == DOWN
    assert readings.count == 0


def test_a_step_that_needs_no_time_gets_none():
    assert settled(Readings(UP), Rings(netdev="eth0", rx=1), Changed("", DOWN)).now == DOWN


def test_the_wait_ends(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(LinkMode, "settle_s", 0.01)
    assert settled(Readings(DOWN), STEP, Changed("", DOWN)).now == DOWN
