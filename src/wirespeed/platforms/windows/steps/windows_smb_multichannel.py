"""SMB Multichannel of Windows, on or off: of the client, or of the server."""

from typing import ClassVar, Literal

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Observed
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.platforms.windows.steps.windows_reading import (
    Rows,
    powershell,
    properties,
    state_of_rows,
    truth_in,
)


class WindowsSmbMultichannel(Step):
    """SMB opens several connections for one session, over each suitable interface; or only one."""

    scope: ClassVar[Scope] = Scope.OS
    purpose: ClassVar[str] = (
        "Without Multichannel SMB uses one TCP connection on one interface, and no RDMA."
    )
    phase: ClassVar[Phase | None] = Phase.SETTINGS
    step: Literal["windows_smb_multichannel"] = "windows_smb_multichannel"
    end: Literal["client", "server"]
    enabled: bool = True

    @property
    def subject(self) -> str:
        return f"SMB {self.end}"

    def read(self) -> Command:
        return powershell(f"Get-{self._noun}", *properties("EnableMultiChannel"))

    def parse(self, section: Section) -> Observed[State]:
        """Give whether it is on."""
        return state_of_rows(section, self.read(), _state)

    def wanted(self, before: State) -> State:
        return {"enabled": self.enabled}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Set it; `-Force` is that cmdlet's way to ask nothing."""
        is_on = f"-EnableMultiChannel:{'$true' if to['enabled'] else '$false'}"
        return (powershell(f"Set-{self._noun}", is_on, "-Force:$true"),)

    @property
    def _noun(self) -> str:
        return f"Smb{self.end.title()}Configuration"


def _state(rows: Rows) -> State:
    if len(rows) != 1:
        raise ValueError(f"{len(rows)} configurations, where there is one")
    return {"enabled": truth_in(rows[0], "EnableMultiChannel")}
