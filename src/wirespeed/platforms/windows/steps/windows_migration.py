"""How Hyper-V moves the memory of a guest to another host: TCP, compressed, or SMB."""

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

Option = Literal["TCPIP", "Compression", "SMB"]
"""VMMigrationPerformance of Hyper-V's cmdlets."""


class WindowsMigration(Step):
    """The host moves guests this way; what is on its way then is not interrupted.

    It is read as the two truth values of Hyper-V's own class, not as the number that JSON makes of
    the option. Compression is in force where both are true, as Get-VMHost reports it.
    """

    scope: ClassVar[Scope] = Scope.OS
    purpose: ClassVar[str] = (
        "By SMB a live migration uses every port and RDMA; by TCP it is one stream on one port."
    )
    phase: ClassVar[Phase | None] = Phase.SETTINGS
    step: Literal["windows_migration"] = "windows_migration"
    option: Option

    @property
    def subject(self) -> str:
        return "live migration"

    def read(self) -> Command:
        """Print the settings of the migration service; an error where Hyper-V is not installed."""
        return powershell(
            *("Get-CimInstance", "-Namespace", "root\\virtualization\\v2"),
            *("-ClassName", "Msvm_VirtualSystemMigrationServiceSettingData"),
            *properties("EnableCompression", "EnableSmbTransport"),
        )

    def parse(self, section: Section) -> Observed[State]:
        """Give the option."""
        return state_of_rows(section, self.read(), _state)

    def wanted(self, before: State) -> State:
        return {"option": self.option}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        option = str(to["option"])
        return (powershell("Set-VMHost", "-VirtualMachineMigrationPerformanceOption", option),)


def _state(rows: Rows) -> State:
    if len(rows) != 1:
        raise ValueError(f"{len(rows)} migration services, where Hyper-V has one")
    if truth_in(rows[0], "EnableCompression"):
        return {"option": "Compression"}
    return {"option": "SMB" if truth_in(rows[0], "EnableSmbTransport") else "TCPIP"}
