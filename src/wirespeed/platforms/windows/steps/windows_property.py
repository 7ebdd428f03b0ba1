"""An advanced property of an adapter of Windows, by the keyword that its driver reads."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Observed
from wirespeed.model.powershell import exactly
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.platforms.windows.steps.windows_reading import (
    AdapterName,
    Rows,
    powershell,
    properties,
    state_of_rows,
    text_in,
)

Keyword = Annotated[str, Field(pattern=r"^\*?[A-Za-z0-9_]{1,64}$")]
"""A star is part of the names that Microsoft has standardised: `*JumboPacket`."""


class WindowsProperty(Step):
    """The keyword has this value; the adapter is restarted to put it in force.

    What a driver has no such keyword for cannot be read, and so is not set. Display names are in
    the language of that Windows: nothing here knows them.
    """

    scope: ClassVar[Scope] = Scope.CARD
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    settle_s: ClassVar[float] = 30
    purpose: ClassVar[str] = (
        "The driver does by it what else the host's cores do, or sends larger frames."
    )
    phase: ClassVar[Phase | None] = Phase.QUEUES
    step: Literal["windows_property"] = "windows_property"
    adapter: AdapterName
    keyword: Keyword
    value: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,64}$")]

    @property
    def subject(self) -> str:
        return f"{self.keyword} of {self.adapter}"

    def read(self) -> Command:
        """List the adapter's properties, those that no window shows among them."""
        return powershell(
            *("Get-NetAdapterAdvancedProperty", "-InterfaceDescription", exactly(self.adapter)),
            *("-AllProperties:$true", "-IncludeHidden:$true"),
            *properties("InterfaceDescription", "RegistryKeyword", "RegistryValue"),
        )

    def parse(self, section: Section) -> Observed[State]:
        """Give its value, as the registry has it."""
        return state_of_rows(section, self.read(), self._state)

    def wanted(self, before: State) -> State:
        return {"value": self.value}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        return (
            powershell(
                *("Set-NetAdapterAdvancedProperty", "-InterfaceDescription", exactly(self.adapter)),
                *("-RegistryKeyword", self.keyword, "-RegistryValue", str(to["value"])),
                *("-AllProperties:$true", "-IncludeHidden:$true"),
            ),
        )

    def _state(self, rows: Rows) -> State:
        mine = [r for r in rows if text_in(r, "InterfaceDescription") == self.adapter]
        found = [r for r in mine if text_in(r, "RegistryKeyword").lower() == self.keyword.lower()]
        if len(found) != 1:
            raise ValueError(f"the driver has no keyword {self.keyword}")
        # The star that is part of a name is read as a wildcard as well.
        pattern = re.compile(re.escape(self.keyword).replace(r"\*", ".*"), re.I)
        alike = [r for r in mine if pattern.fullmatch(text_in(r, "RegistryKeyword"))]
        if len(alike) != 1:
            raise ValueError(f"{self.keyword} would set {len(alike)} keywords")
        values = found[0].texts("RegistryValue")
        if len(values) != 1:
            raise ValueError(f"{self.keyword} has {len(values)} values")
        return {"value": values[0]}
