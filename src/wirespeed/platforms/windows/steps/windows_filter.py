"""A filter driver of another vendor on adapters of Windows: taken off, and put on again."""

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
    truth_in,
)

ComponentId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
BINDINGS = (
    *("Get-NetAdapterBinding", "-AllBindings:$true", "-IncludeHidden:$true"),
    *properties("Name", "InterfaceDescription", "ComponentID", "Enabled"),
)


def bound(rows: Rows, component_id: str) -> dict[str, bool]:
    """Give the adapters that a component is bound to, or could be. Raises ValueError."""
    found: dict[str, bool] = {}
    for row in rows:
        if text_in(row, "ComponentID").lower() == component_id.lower():
            adapter, is_on = text_in(row, "InterfaceDescription"), truth_in(row, "Enabled")
            if found.setdefault(adapter, is_on) != is_on:
                raise ValueError(f"{component_id} is on and off on {adapter[:60]!r}")
    return found


class WindowsFilter(Step):
    """The component is bound to none of these adapters; undo binds it where it was bound before.

    The adapter's stack is taken down and built again for it. The component's own adapter is not
    among them: its driver may need it there.
    """

    scope: ClassVar[Scope] = Scope.OS
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    settle_s: ClassVar[float] = 20
    purpose: ClassVar[str] = (
        "A filter of another vendor sees every frame, turns settings back, and may crash "
        "Windows when a virtual switch takes the adapter."
    )
    phase: ClassVar[Phase | None] = Phase.LINK
    step: Literal["windows_filter"] = "windows_filter"
    component_id: ComponentId
    """As Windows calls it: `nt_rtf64`."""
    adapters: Annotated[tuple[AdapterName, ...], Field(min_length=1, max_length=128)]

    @property
    def subject(self) -> str:
        return self.component_id

    def read(self) -> Command:
        return powershell(*BINDINGS)

    def parse(self, section: Section) -> Observed[State]:
        """Give whether it is bound, by adapter; None where it cannot be."""
        return state_of_rows(section, self.read(), self._state)

    def _state(self, rows: Rows) -> State:
        if not rows:
            raise ValueError("it names no adapter")
        there = bound(rows, self.component_id)
        return {adapter: there.get(adapter) for adapter in self.adapters}

    def wanted(self, before: State) -> State:
        return {adapter: None if on is None else False for adapter, on in before.items()}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        return tuple(
            powershell(
                "Enable-NetAdapterBinding" if to[adapter] else "Disable-NetAdapterBinding",
                *("-InterfaceDescription", exactly(adapter)),
                *("-ComponentID", self.component_id, "-IncludeHidden:$true", "-Confirm:$false"),
            )
            for adapter in self.adapters
            if now.get(adapter) != to.get(adapter) and None not in (now[adapter], to[adapter])
        )
