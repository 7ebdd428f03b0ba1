"""Which idle states the CPUs may enter: those that they wake from in time."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, Scope, State, Step

FOLDER = "/sys/devices/system/cpu"
LINE = re.compile(
    rf"^{FOLDER}/(cpu[0-9]{{1,4}}/cpuidle/state[0-9]{{1,2}})/(disable|latency):([0-9]{{1,10}})$",
    re.M,
)
ON, OFF = "0", "1"


class IdleStates(Step):
    """No CPU enters a state that it needs more than so many microseconds to wake from.

    States that are left alone stay as they are, so that one that somebody else disabled is not
    enabled. CPUs that come online later have all of them.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    purpose: ClassVar[str] = "A frame that wakes a sleeping core waits until that core is awake."
    phase: ClassVar[Phase | None] = Phase.HOST
    step: Literal["idle_states"] = "idle_states"
    most_exit_latency_us: Annotated[int, Field(ge=0, le=100_000)]

    @property
    def subject(self) -> str:
        return f"idle states of more than {self.most_exit_latency_us} us"

    def read(self) -> Command:
        """Print the switch and the time to wake of every state of every CPU."""
        names = ("(", "-name", "disable", "-o", "-name", "latency", ")")
        found = ("-path", "*/cpuidle/state*", *names, "-exec", "grep", "-H", "", "{}", "+")
        return Command(argv=("find", FOLDER, *found))

    def parse(self, section: Section) -> Observed[State]:
        """Give whether each deep state is disabled; unreadable where a CPU has no states."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        read: dict[str, dict[str, str]] = {}
        for state, name, value in LINE.findall(text.value):
            read.setdefault(state, {})[name] = value
        if not read:
            return Unreadable("this kernel has no idle states to choose from", source)
        deep: State = {}
        for state, values in sorted(read.items(), key=lambda item: _in_order(item[0])):
            if values.keys() != {"disable", "latency"}:
                return Unreadable(f"{state}: one of its files was not read", source)
            if int(values["latency"]) > self.most_exit_latency_us:
                deep[state] = values["disable"] != ON
        return Known(deep, source)

    def wanted(self, before: State) -> State:
        return dict.fromkeys(before, True)

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Write the switches that differ, those to one value in one command."""
        commands = []
        for is_disabled, word in ((True, OFF), (False, ON)):
            states = [
                s for s, wanted in to.items() if wanted is is_disabled and now.get(s) != wanted
            ]
            if states:
                paths = (f"{FOLDER}/{state}/disable" for state in states)
                commands.append(Command(argv=("tee", *paths), stdin=word))
        return tuple(commands)


def _in_order(state: str) -> list[int]:
    return [int(number) for number in re.findall("[0-9]+", state)]
