"""The Windows that a capture is of: its version, and whether it was read as administrator."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.virtualization_wsl import Wsl
from wirespeed.model.capture import Capture
from wirespeed.model.fact import HostFacts, WindowsFact
from wirespeed.model.observed import (
    Absent,
    CannotTellError,
    Known,
    Observed,
    Unreadable,
    value_or_none,
)
from wirespeed.model.rule import DoesNotApplyError
from wirespeed.platforms.windows.facts.windows_rows import Row, rows_of

NUMA_SOURCE = "Get-CimInstance -ClassName Win32_PerfFormattedData_PerfOS_NUMANodeMemory"
LINUX_SECTIONS = ("ports", "kernel")
WOULD_TELL = "wirespeed capture --script windows"


@dataclass(frozen=True, slots=True)
class WindowsHost(WindowsFact):
    """Absent throughout: the capture has no Windows side."""

    caption: Observed[str]
    """`Microsoft Windows 11 Pro`, in the language of that Windows."""
    build: Observed[int]
    is_administrator: Observed[bool]
    """False: what only an administrator may read is missing."""
    processors: Observed[int]
    """Logical ones."""
    numa_nodes: Observed[int]

    powershell: ClassVar[str] = """\
Text windows-names {
	"hostname $env:COMPUTERNAME"
	"user $env:USERNAME"
}
Section windows-host {
	$system = Get-CimInstance -ClassName Win32_OperatingSystem
	$me = [Security.Principal.WindowsPrincipal][Security.Principal.WindowsIdentity]::GetCurrent()
	$processors = @(Get-CimInstance -ClassName Win32_Processor)
	New-Object PSObject -Property @{
		Caption = $system.Caption
		Build = [int]$system.BuildNumber
		IsAdministrator = $me.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)
		Processors = [Environment]::ProcessorCount
		Sockets = $processors.Count
	}
}
Section windows-numa {
	Get-CimInstance -ClassName Win32_PerfFormattedData_PerfOS_NUMANodeMemory |
		Where-Object { $_.Name -ne '_Total' } |
		ForEach-Object { New-Object PSObject -Property @{ Node = "$($_.Name)" } }
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the one row."""
        rows = rows_of(capture, "windows-host", "Get-CimInstance -ClassName Win32_OperatingSystem")
        if not isinstance(rows, Known) or not rows.value:
            nothing = Absent(WOULD_TELL) if isinstance(rows, Known) else rows
            return cls(nothing, nothing, nothing, nothing, nothing)
        row = rows.value[0]
        return cls(
            row.text("Caption"),
            row.number("Build"),
            row.truth("IsAdministrator"),
            row.number("Processors"),
            _nodes(rows_of(capture, "windows-numa", NUMA_SOURCE)),
        )


def _nodes(rows: Observed[tuple[Row, ...]]) -> Observed[int]:
    if not isinstance(rows, Known):
        return rows
    if not rows.value:
        return Unreadable("Windows counts none", NUMA_SOURCE)
    return Known(len(rows.value), NUMA_SOURCE)


def has_windows_side(capture: Capture) -> bool:
    """Whether Windows was read at all."""
    return capture.section("windows-host") is not None


def is_only_windows(capture: Capture) -> bool:
    """Whether a capture has a Windows side and no Linux side."""
    return has_windows_side(capture) and not any(map(capture.section, LINUX_SECTIONS))


def require_windows(host: HostFacts) -> None:
    """Raise DoesNotApplyError where there is no Windows, CannotTellError where it was not read."""
    if has_windows_side(host.capture):
        return
    try:
        is_wsl = value_or_none(host[Wsl].version) is not None
    except CannotTellError:
        is_wsl = False
    if is_wsl:
        raise CannotTellError("the Windows side was not read", WOULD_TELL)
    raise DoesNotApplyError("this host is not Windows")
