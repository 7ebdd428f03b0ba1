"""A service of systemd; test_irqbalance.py has what all units have in common."""

import pytest
from proof import plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed
from test_irqbalance import Described as DescribedIrqbalance

from wirespeed.model.command import Command
from wirespeed.steps.service import Service

REASON = "its rules cost a lookup for each frame"
OFF = Service(unit="firewalld.service", is_running=False, reason=REASON)
ON = Service(unit="tuned.service", is_running=True, reason="holds the profile")


class Described(DescribedIrqbalance):
    """The same unit of systemd by another name."""

    def run(self, command: Command):
        assert "irqbalance.service" not in command.argv
        renamed = ("irqbalance.service" if w in (OFF.unit, ON.unit) else w for w in command.argv)
        return super().run(command.model_copy(update={"argv": tuple(renamed)}))


@pytest.mark.parametrize(("active", "enabled"), [("active", "enabled"), ("inactive", "enabled")])
def test_off_and_back(active: str, enabled: str):
    prove(OFF, Described(active, enabled), Described("inactive", "disabled"))


def test_on_and_back():
    prove(ON, Described("inactive", "disabled"), Described("active", "enabled"))


def test_one_that_is_not_installed_does_not_run():
    assert plan_on(OFF, Described("inactive", "", "not-found")).steps[0].no_op


def test_it_is_never_guessed():
    is_never_guessed(OFF)


@pytest.mark.parametrize(
    "unit",
    ["firewalld", "-H.service", "a b.service", "../x.service", "multi-user.target", "a;b.service"],
)
def test_no_such_unit(unit: str):
    with pytest.raises(ValidationError):
        Service(unit=unit, is_running=False, reason=REASON)


@pytest.mark.parametrize("unit", ["ssh.service", "sshd.service", "sshd@1.service", "dbus.service"])
def test_what_it_takes_to_come_back_is_left_running(unit: str):
    with pytest.raises(ValidationError, match="no host can be reached"):
        Service(unit=unit, is_running=False, reason=REASON)
