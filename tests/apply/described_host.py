"""A host that is described: a dictionary that steps write to, which can fail, lie and die."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from wirespeed.apply.control import Changed
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step


class Put(Step):
    """A key of the described host has a value."""

    scope: ClassVar[Scope] = Scope.BOOT
    step: Literal["put"] = "put"
    key: str
    value: int

    @property
    def subject(self) -> str:
        return self.key

    @property
    def why(self) -> str:
        return "for a test"

    def read(self) -> Command:
        return Command(argv=("get", self.key))

    def parse(self, section: Section) -> Observed[State]:
        return Known({"value": int(section.output)}, "get")

    def made(self) -> State:
        return {"value": 0}

    def wanted(self, before: State) -> State:
        return {"value": self.value}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        # Two commands, with a state of neither kind between them.
        if now == to:
            return ()
        return tuple(Command(argv=("put", self.key, str(v))) for v in (-1, to["value"]))


MADE = 7
"""What a thing is that comes with `count`; the plan could only say 0."""


class Killed(BaseException):
    """The process ends here: nothing after it runs."""


class DescribedHost:
    """Its control. `fails` and `ignores` name keys; `dies_before` counts down over commands."""

    def __init__(self, values: dict[str, int]) -> None:
        self.values = values
        self.fails: set[str] = set()
        self.ignores: set[str] = set()
        self.unreadable: set[str] = set()
        self.hides: set[str] = set()
        """Keys that are unreadable as soon as they are written."""
        self.dies_before: int | None = None
        self.ran: list[tuple[str, ...]] = []
        self.trips = 0
        self.meanwhile: dict[str, int] = {}
        """What a colleague sets just before the next change is made, and after all was read."""

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        self.trips += 1
        return [self._state(step) for step in steps]

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        self.trips += 1
        self.values |= self.meanwhile
        self.meanwhile = {}
        if now is not None and self._state(step) != Known(now, "get"):
            return Changed("", self._state(step), is_stale=True)
        failed = ""
        for command in commands:
            if self.dies_before is not None:
                if self.dies_before == 0:
                    raise Killed
                self.dies_before -= 1
            self.ran.append(command.argv)
            verb, key, value = command.argv
            if verb != "put" or key not in self.values:
                raise AssertionError(f"the described host does not know {command.argv}")
            if key in self.fails:
                failed = f"{command.line()}: 1: refused"
                break
            self.unreadable |= self.hides & {key}
            if key not in self.ignores:
                self.values[key] = int(value)
            if key == "count":
                # As VFs come and go with their number.
                self.values.pop("vf", None)
                if int(value) > 0:
                    self.values["vf"] = MADE
        return Changed(failed, self._state(step))

    def _state(self, step: Step) -> Observed[State]:
        if step.subject in self.unreadable or step.subject not in self.values:
            return Unreadable("permission denied", "get")
        return Known({"value": self.values[step.subject]}, "get")
