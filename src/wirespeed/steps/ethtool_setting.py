"""What the steps have in common whose state one option of ethtool shows and another sets."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, TypeAlias

from wirespeed.model.capture import Capture, Section
from wirespeed.model.command import Command
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step

Value: TypeAlias = str | int | bool | None


class EthtoolSetting(Step):
    """Settings of one netdev. The keys of its state are ethtool's own words."""

    scope: ClassVar[Scope] = Scope.BOOT
    shown_by: ClassVar[str]
    """Option that prints them: `-g`."""
    set_by: ClassVar[str]
    """Option that sets them: `-G`."""
    netdev: Netdev

    @property
    def subject(self) -> str:
        return self.netdev

    @abstractmethod
    def asked(self) -> State:
        """Give what is asked for; what is None in the step stays out."""

    def read(self) -> Command:
        return Command(argv=("ethtool", self.shown_by, self.netdev))

    def wanted(self, before: State) -> State:
        """Give what is asked for, beside what else the state holds."""
        return before | self.asked()

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Set what differs in one command: some versions fail when they are asked for no change."""
        differing = {key: value for key, value in to.items() if value != now.get(key)}
        return (self.set_to(differing),) if differing else ()

    def set_to(self, values: Mapping[str, Value]) -> Command:
        """Make the command that sets these."""
        words = (word for key, value in values.items() for word in (key, ethtool_word(value)))
        return Command(argv=("ethtool", self.set_by, self.netdev, *words))

    def as_capture(self, section: Section, name: str) -> Capture:
        """Give what was read as the capture that a fact parses, in its section `name`."""
        return Capture([replace(section, name=name, subject=self.netdev)], complete=True)


def ethtool_word(value: Value) -> str:
    """Write a value as ethtool reads it: True is `on`."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def as_state(
    values: Mapping[str, Observed[int] | Observed[bool] | Observed[str]],
) -> Observed[State]:
    """Make a state of values that are all known, else say why the first is not."""
    state: State = {}
    source = ""
    for key, observed in values.items():
        if not isinstance(observed, Known):
            return Unreadable(f"{key}: {observed.reason}", observed.source)
        state[key], source = observed.value, observed.source
    return Known(state, source)


def only_given(values: Mapping[str, Value]) -> State:
    """Leave out what is None: it is not asked for."""
    return {key: value for key, value in values.items() if value is not None}
