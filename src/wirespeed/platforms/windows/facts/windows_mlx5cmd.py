"""What mlx5cmd says, where WinOF-2 is installed: kept as it stands, for its form varies."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.platforms.windows.facts.windows_rows import plain_guid

SOURCE = "mlx5cmd.exe -Stat"
LINK_SOURCE = "mlx5cmd.exe -LinkSpeed -Name ADAPTER -Query"
ADAPTER = "adapter "


@dataclass(frozen=True, slots=True)
class WindowsMlx5cmd(WindowsFact):
    """Texts; Unreadable: it is not installed."""

    stat: Observed[str]
    link_settings: Observed[str]
    """Of every Mellanox adapter: what it can do, and what it is set to."""

    powershell: ClassVar[str] = """\
$mlx5cmd = Join-Path $env:ProgramFiles 'Mellanox\\MLNX_WinOF2\\Management Tools\\Mlx5Cmd.exe'
if (-not (Test-Path -LiteralPath $mlx5cmd)) { $mlx5cmd = 'mlx5cmd.exe' }
Text windows-mlx5cmd { & $mlx5cmd -Stat }
Text windows-mlx5cmd-link {
	$cards = Get-NetAdapter | Where-Object { $_.ComponentID -like 'PCI\\VEN_15B3*' }
	foreach ($card in $cards) {
		"adapter $($card.InterfaceGuid)"
		& $mlx5cmd -LinkSpeed -Name $card.Name -Query
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Keep what it printed."""
        return cls(
            capture.text("windows-mlx5cmd", SOURCE),
            capture.text("windows-mlx5cmd-link", LINK_SOURCE),
        )

    def said_of(self, guid: str) -> Observed[str]:
        """Give what it said of one adapter's link, with one blank between words."""
        if not isinstance(self.link_settings, Known):
            return self.link_settings
        words: list[str] = []
        is_mine = False
        for line in self.link_settings.value.splitlines():
            of = plain_guid(line.removeprefix(ADAPTER).strip()) if ADAPTER in line else ""
            if of:
                is_mine = of == guid
            elif is_mine:
                words += line.split()
        if not words:
            return Unreadable("mlx5cmd says nothing of that adapter", LINK_SOURCE)
        return Known(" ".join(words), LINK_SOURCE)
