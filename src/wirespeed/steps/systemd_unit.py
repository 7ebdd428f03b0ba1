"""What the steps have in common that start or stop a unit of systemd, now and at boot."""

import re
from abc import abstractmethod
from typing import ClassVar

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step

PROPERTIES = ("LoadState", "ActiveState", "UnitFileState")
ACTIVE = {"active": True, "inactive": False, "failed": False}
ENABLED = {"enabled": True, "disabled": False, "masked": False, "": False}
"""A unit without a file has no state; one that is masked does not start at boot."""


class SystemdUnit(Step):
    """The unit runs and is started at boot, or neither.

    Where it is not installed it does not run. How it came to be stopped is not kept: a unit that
    had failed is stopped after the undo of a start.
    """

    scope: ClassVar[Scope] = Scope.OS
    is_running: bool

    @property
    @abstractmethod
    def subject(self) -> str:
        """The unit of systemd."""

    def read(self) -> Command:
        names = ",".join(PROPERTIES)
        return Command(argv=("systemctl", "show", self.subject, f"--property={names}"))

    def parse(self, section: Section) -> Observed[State]:
        """Read whether it runs and whether it will; between two states is not known."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        values = dict(re.findall(r"^(\w+)=([\w-]*)$", text.value, re.M))
        load, active, enabled = (values.get(name) for name in PROPERTIES)
        if load == "not-found":
            return Known({"active": False, "enabled": False}, source)
        if load not in ("loaded", "masked") or active not in ACTIVE or enabled not in ENABLED:
            found = f"{load}, {active}, {enabled}"
            return Unreadable(f"it is neither running nor stopped for good ({found})", source)
        if load == "masked" and ACTIVE[active]:
            return Unreadable("it runs though it is masked: once stopped it cannot start", source)
        return Known({"active": ACTIVE[active], "enabled": ENABLED[enabled]}, source)

    def wanted(self, before: State) -> State:
        """Give the same for now and for the next boot."""
        return {"active": self.is_running, "enabled": self.is_running}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Start or stop it, enable or disable it: each on its own, as either may stand alone."""
        verbs = []
        if now["active"] != to["active"]:
            verbs.append("start" if to["active"] else "stop")
        if now["enabled"] != to["enabled"]:
            verbs.append("enable" if to["enabled"] else "disable")
        return tuple(Command(argv=("systemctl", verb, self.subject)) for verb in verbs)
