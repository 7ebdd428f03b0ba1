"""Receive side scaling of an adapter of Windows: on which cores its frames are received."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Observed
from wirespeed.model.powershell import exactly
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.platforms.windows.steps.windows_reading import (
    AdapterName,
    Rows,
    number_in,
    powershell,
    properties,
    state_of_rows,
    text_in,
    truth_in,
)

PARAMETERS = {
    "base_group": "BaseProcessorGroup",
    "base_processor": "BaseProcessorNumber",
    "max_group": "MaxProcessorGroup",
    "max_processor": "MaxProcessorNumber",
    "max_processors": "MaxProcessors",
    "queues": "NumberOfReceiveQueues",
    "numa_node": "NumaNode",
}
"""By field of the step; a property of Get-NetAdapterRss and a parameter of Set-NetAdapterRss."""
Processor = Annotated[int, Field(ge=0, le=63)]
"""Within its group."""


class WindowsRss(Step):
    """Its queues go to these cores; what is left out stays as it is.

    Two cards get ranges of their own, on the NUMA node of each. With hyper-threading only every
    second number is a core that RSS takes.
    """

    scope: ClassVar[Scope] = Scope.CARD
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    settle_s: ClassVar[float] = 30
    purpose: ClassVar[str] = (
        "Frames are received on several cores, near to the card, that no other card has."
    )
    phase: ClassVar[Phase | None] = Phase.SPREADING
    step: Literal["windows_rss"] = "windows_rss"
    adapter: AdapterName
    base_group: Annotated[int, Field(ge=0, le=63)] | None = None
    base_processor: Processor | None = None
    max_group: Annotated[int, Field(ge=0, le=63)] | None = None
    max_processor: Processor | None = None
    max_processors: Annotated[int, Field(ge=1, le=256)] | None = None
    queues: Annotated[int, Field(ge=1, le=256)] | None = None
    numa_node: Annotated[int, Field(ge=0, le=65535)] | None = None

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not self._asked():
            raise ValueError("nothing is asked for")
        return self

    @property
    def subject(self) -> str:
        return self.adapter

    def read(self) -> Command:
        return powershell(
            *("Get-NetAdapterRss", "-InterfaceDescription", exactly(self.adapter)),
            *properties("InterfaceDescription", "Enabled", *PARAMETERS.values()),
        )

    def parse(self, section: Section) -> Observed[State]:
        """Give whether it is on, and what is asked for."""
        return state_of_rows(section, self.read(), self._state)

    def wanted(self, before: State) -> State:
        """Give that it is on, with what is asked for."""
        return {"enabled": True, **self._asked()}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Set all that differs in one command, so that the adapter restarts only once."""
        words: list[str] = []
        for field in self._asked():
            if now[field] != to[field]:
                words += [f"-{PARAMETERS[field]}", str(to[field])]
        if now["enabled"] != to["enabled"]:
            words.append(f"-Enabled:{'$true' if to['enabled'] else '$false'}")
        if not words:
            return ()
        adapter = ("-InterfaceDescription", exactly(self.adapter))
        return (powershell("Set-NetAdapterRss", *adapter, *words),)

    def _asked(self) -> dict[str, int]:
        return {name: value for name in PARAMETERS if (value := getattr(self, name)) is not None}

    def _state(self, rows: Rows) -> State:
        mine = [row for row in rows if text_in(row, "InterfaceDescription") == self.adapter]
        if len(mine) != 1:
            raise ValueError(f"{len(mine)} adapters of that name have RSS")
        numbers = {field: number_in(mine[0], PARAMETERS[field]) for field in self._asked()}
        return {"enabled": truth_in(mine[0], "Enabled"), **numbers}
