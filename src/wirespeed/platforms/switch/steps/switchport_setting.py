"""What all steps about a port of a switch have in common."""

from abc import abstractmethod
from typing import ClassVar, Self

from pydantic import model_validator

from wirespeed.model.capture import Section
from wirespeed.model.command import Command, Shell
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Observed
from wirespeed.model.step import Scope, State, Step
from wirespeed.model.switch_kind import SwitchKind, SwitchportName
from wirespeed.platforms.switch.steps.switchport_dialect import Topic, changes, has, settings, show
from wirespeed.steps.readings import state_of


class SwitchportSetting(Step):
    """A setting of the running configuration: a switch that restarts has what was saved."""

    scope: ClassVar[Scope] = Scope.BOOT
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    topic: ClassVar[Topic]
    kind: SwitchKind
    port: SwitchportName

    @model_validator(mode="after")
    def _has_it(self) -> Self:
        if not has(self.kind, self.topic):
            raise ValueError(f"a port of {self.kind} has no setting of its {self.topic}")
        return self

    @property
    def subject(self) -> str:
        return self.port

    @abstractmethod
    def wanted(self, before: State) -> State:
        """Give the state that it leads to."""

    def read(self) -> Command:
        return Command(argv=(show(self.kind, self.port),), shell=Shell.SWITCH)

    def parse(self, section: Section) -> Observed[State]:
        return state_of(
            section,
            self.read(),
            lambda text: settings(self.kind, self.port, self.topic, text),
        )

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Type all of it at once, so that a port is never left half configured."""
        lines = changes(self.kind, self.port, self.topic, now, to)
        return (Command(argv=lines, shell=Shell.SWITCH),) if lines else ()
