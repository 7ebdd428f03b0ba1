"""Receive queues for guests (VMQ) of an adapter of Windows, on or off."""

from typing import ClassVar, Literal

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


class WindowsVmq(Step):
    """The card gives guests receive queues of their own, or none. The cmdlet restarts the adapter.

    An adapter whose driver does not offer VMQ has no row, and is refused.
    """

    scope: ClassVar[Scope] = Scope.CARD
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    settle_s: ClassVar[float] = 30
    purpose: ClassVar[str] = (
        "Without VMQ one core receives the frames of all guests; with it each has a queue and a "
        "core."
    )
    phase: ClassVar[Phase | None] = Phase.SPREADING
    step: Literal["windows_vmq"] = "windows_vmq"
    adapter: AdapterName
    enabled: bool = True

    @property
    def subject(self) -> str:
        return self.adapter

    def read(self) -> Command:
        return powershell(
            *("Get-NetAdapterVmq", "-InterfaceDescription", exactly(self.adapter)),
            *properties("InterfaceDescription", "Enabled"),
        )

    def parse(self, section: Section) -> Observed[State]:
        """Give whether it is on."""
        return state_of_rows(section, self.read(), self._state)

    def wanted(self, before: State) -> State:
        return {"enabled": self.enabled}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        cmdlet = "Enable-NetAdapterVmq" if to["enabled"] else "Disable-NetAdapterVmq"
        adapter = ("-InterfaceDescription", exactly(self.adapter))
        return (powershell(cmdlet, *adapter, "-Confirm:$false"),)

    def _state(self, rows: Rows) -> State:
        mine = [row for row in rows if text_in(row, "InterfaceDescription") == self.adapter]
        if len(mine) != 1:
            raise ValueError(f"{len(mine)} adapters of that name have VMQ")
        return {"enabled": truth_in(mine[0], "Enabled")}
