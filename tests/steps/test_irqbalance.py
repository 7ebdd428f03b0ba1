"""irqbalance as a unit of systemd."""

from dataclasses import dataclass

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.steps.irqbalance import UNIT, Irqbalance

OFF, ON = Irqbalance(is_running=False), Irqbalance(is_running=True)


@dataclass
class Described:
    """Understands `systemctl show|start|stop|enable|disable` of the one unit."""

    active: str = "active"
    enabled: str = "enabled"
    load: str = "loaded"

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("systemctl", "show", "irqbalance.service", names) if names == NAMES:
                # systemd prints them in an order of its own, and `show` of no unit succeeds.
                return Answer(
                    f"LoadState={self.load}\nActiveState={self.active}\n"
                    f"UnitFileState={self.enabled}\n"
                )
            case ("systemctl", "start" | "enable" as verb, "irqbalance.service"):
                if self.load != "loaded":
                    return Answer(errors=f"Failed to {verb} unit: it is {self.load}", returncode=1)
                if verb == "start":
                    self.active = "active"
                else:
                    self.enabled = "enabled"
                return Answer()
            case ("systemctl", "stop", "irqbalance.service") if self.load == "loaded":
                self.active = "inactive"
                return Answer()
            case ("systemctl", "disable", "irqbalance.service") if self.load == "loaded":
                self.enabled = "disabled"
                return Answer()
            case _:
                raise UnknownCommandError(command.line())


NAMES = "--property=LoadState,ActiveState,UnitFileState"


@pytest.mark.parametrize(
    ("active", "enabled"), [("active", "enabled"), ("active", "disabled"), ("inactive", "enabled")]
)
def test_off_and_back(active: str, enabled: str):
    prove(OFF, Described(active, enabled), Described("inactive", "disabled"))


def test_on_and_back():
    prove(ON, Described("inactive", "disabled"), Described("active", "enabled"))


def test_the_commands():
    planned = plan_on(OFF, Described()).steps[0]
    assert [command.line() for command in planned.commands] == [
        f"systemctl stop {UNIT}",
        f"systemctl disable {UNIT}",
    ]
    assert [command.line() for command in planned.undo] == [
        f"systemctl start {UNIT}",
        f"systemctl enable {UNIT}",
    ]


@pytest.mark.parametrize(
    "described",
    [
        Described("inactive", "", "not-found"),
        Described("inactive", "masked", "masked"),
        Described("failed", "disabled"),
    ],
)
def test_where_it_does_not_run_nothing_is_done(described: Described):
    planned = plan_on(OFF, described).steps[0]
    assert planned.before == {"active": False, "enabled": False}
    assert planned.no_op and not planned.commands


@pytest.mark.parametrize(
    "described",
    [
        Described("activating"),
        Described("deactivating"),
        Described("active", "enabled-runtime"),
        Described("active", "static"),
        Described("active", "masked", "masked"),
        Described("active", "enabled", "error"),
    ],
)
def test_a_state_that_could_not_be_put_back_is_not_known(described: Described):
    reason_of(OFF, section_of(described.run(OFF.read()).output))


def test_it_is_never_guessed():
    is_never_guessed(OFF)
    no_systemd = (
        "System has not been booted with systemd as init system (PID 1). Can't operate.\n"
        "Failed to connect to bus: Host is down\n"
    )
    assert "not been booted" in reason_of(OFF, section_of("", no_systemd, 1))
    in_another_order = "UnitFileState=enabled\nActiveState=inactive\nLoadState=loaded\n"
    assert state_of(OFF, section_of(in_another_order)) == {"active": False, "enabled": True}
