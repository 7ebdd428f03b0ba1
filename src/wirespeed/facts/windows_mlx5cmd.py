"""What mlx5cmd says, where WinOF-2 is installed: kept as it stands, for its form varies."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Observed

SOURCE = "mlx5cmd.exe -Stat"


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
            capture.text("windows-mlx5cmd-link", "mlx5cmd.exe -LinkSpeed -Name ADAPTER -Query"),
        )
