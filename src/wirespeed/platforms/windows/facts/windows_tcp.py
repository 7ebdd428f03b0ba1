"""TCP of Windows: how far a receive window may grow, and what multimedia programs slow down."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, known
from wirespeed.platforms.windows.facts.windows_rows import Row, rows_of

SOURCE = "Get-NetTCPSetting"
THROTTLING_SOURCE = (
    "Get-ItemProperty 'HKLM:\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Multimedia\\"
    "SystemProfile'"
)
DEFAULT_THROTTLING = 10
"""Packets a millisecond, where the registry names none."""
MOST_THROTTLING = 70
OFF = {"-1", "4294967295"}
"""0xffffffff, as PowerShell prints a DWORD with its sign or without."""


@dataclass(frozen=True, slots=True)
class TcpSetting:
    """A template; Windows takes one for each connection."""

    name: str
    """`Internet`, `DatacenterCustom`, `Compat`."""
    level: str
    """`Disabled`, `HighlyRestricted`, `Restricted`, `Normal`, `Experimental`; empty: not told."""
    is_of_policy: bool
    """The level is what a group policy sets, and no command."""
    heuristics: str
    """`Enabled`: Windows restricts windows by itself; `Disabled`; empty: not told."""


@dataclass(frozen=True, slots=True)
class WindowsTcp(WindowsFact):
    """Of the host as a whole."""

    settings: Observed[tuple[TcpSetting, ...]]
    throttling: Observed[int | None]
    """Packets a millisecond beside a program of multimedia; None: it is off."""

    powershell: ClassVar[str] = """\
Section windows-tcp-settings {
	Get-NetTCPSetting | ForEach-Object {
		New-Object PSObject -Property @{
			SettingName = "$($_.SettingName)"
			AutoTuningLevelLocal = "$($_.AutoTuningLevelLocal)"
			AutoTuningLevelGroupPolicy = "$($_.AutoTuningLevelGroupPolicy)"
			AutoTuningLevelEffective = "$($_.AutoTuningLevelEffective)"
			ScalingHeuristics = "$($_.ScalingHeuristics)"
		}
	}
}
Section windows-throttling {
	$key = 'HKLM:\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Multimedia\\SystemProfile'
	Get-ItemProperty -LiteralPath $key | ForEach-Object {
		New-Object PSObject -Property @{ Index = "$($_.NetworkThrottlingIndex)" }
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each template, and the one of the registry."""
        rows = rows_of(capture, "windows-tcp-settings", SOURCE)
        return cls(
            Known(tuple(map(_setting, rows.value)), SOURCE) if isinstance(rows, Known) else rows,
            _throttling(rows_of(capture, "windows-throttling", THROTTLING_SOURCE)),
        )

    def known_settings(self) -> tuple[TcpSetting, ...]:
        """Give the templates. Raises CannotTellError where they could not be read."""
        return known(self.settings, "the TCP settings of Windows")


def _setting(row: Row) -> TcpSetting:
    is_of_policy = _plain(row, "AutoTuningLevelEffective") == "GroupPolicy"
    return TcpSetting(
        _plain(row, "SettingName"),
        _plain(row, f"AutoTuningLevel{'GroupPolicy' if is_of_policy else 'Local'}"),
        is_of_policy,
        _plain(row, "ScalingHeuristics"),
    )


def _plain(row: Row, name: str) -> str:
    text = row.text(name)
    return text.value if isinstance(text, Known) else ""


def _throttling(rows: Observed[tuple[Row, ...]]) -> Observed[int | None]:
    if not isinstance(rows, Known):
        return rows
    if not rows.value:
        return Known(DEFAULT_THROTTLING, rows.source)
    said = rows.value[0].text("Index")
    if isinstance(said, Absent):
        return Known(DEFAULT_THROTTLING, rows.source)
    if not isinstance(said, Known):
        return said
    if said.value in OFF:
        return Known(None, rows.source)
    number = int(said.value) if said.value.isascii() and said.value.isdecimal() else 0
    if not 1 <= number <= MOST_THROTTLING:
        return Unreadable(f"NetworkThrottlingIndex is {said.value[:20]!r}", rows.source)
    return Known(number, rows.source)
