"""Control of a virtual machine: one that is not there is no error, and nothing is taken in it."""

from collections.abc import Sequence

import pytest
from claims import claim

from wirespeed.apply.control_guest import GuestControl
from wirespeed.host.runner import Completed
from wirespeed.model.error import HostError
from wirespeed.model.observed import Unreadable
from wirespeed.steps.mtu import Mtu

STEP = Mtu(netdev="bond0", mtu=9000)


class Gone:
    """A runner of a guest that is not there; it counts what it is asked."""

    asked = 0

    def run(self, argv: Sequence[str], **_: object) -> Completed:
        self.asked += 1
        raise HostError("guest.not_running", where="gpu-1", found="no console")

    def renew(self) -> None:
        raise AssertionError


def test_what_is_in_a_guest_that_is_not_there_is_not_known():
    control = GuestControl("gpu-1", Gone())
    found = control.read([STEP, STEP])
    assert len(found) == 2
    for state in found:
        assert isinstance(state, Unreadable) and "no console" in state.reason


def test_a_change_there_fails_and_says_why(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("wirespeed.apply.control_posix.RECONNECT_S", 0.0)
    changed = GuestControl("gpu-1", Gone()).change(STEP, STEP.change({"mtu": 1500}, {"mtu": 9000}))
    assert "guest.not_running gpu-1: no console" in changed.failed


def test_to_take_its_host_is_enough():
    runner = Gone()
    control = GuestControl("gpu-1", runner)
    assert control.lock(claim()) == ""
    control.unlock(claim())
    assert (control.boot_id(), runner.asked) == ("", 0)
