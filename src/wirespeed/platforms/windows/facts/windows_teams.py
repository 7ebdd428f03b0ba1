"""Teams of adapters: those of Windows (LBFO), and those within a switch of Hyper-V (SET)."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Known, Observed
from wirespeed.platforms.windows.facts.windows_rows import Row, rows_of

LBFO_SOURCE = "Get-NetLbfoTeam"
SET_SOURCE = "Get-VMSwitchTeam"


@dataclass(frozen=True, slots=True)
class Team:
    """One team."""

    name: str
    members: tuple[str, ...]
    """Names of adapters (LBFO), or their descriptions (SET)."""
    mode: str
    """`Lacp`, `Static`, `SwitchIndependent`."""
    algorithm: Observed[str]
    """`Dynamic`, `HyperVPort`, `TransportPorts`, `IPAddresses`, `MacAddresses`."""


@dataclass(frozen=True, slots=True)
class WindowsTeams(WindowsFact):
    """Both kinds."""

    lbfo: Observed[tuple[Team, ...]]
    embedded: Observed[tuple[Team, ...]]

    powershell: ClassVar[str] = """\
Section windows-teams {
	Get-NetLbfoTeam | ForEach-Object {
		New-Object PSObject -Property @{
			Name = $_.Name
			Members = @($_.Members)
			Mode = "$($_.TeamingMode)"
			LoadBalancingAlgorithm = "$($_.LoadBalancingAlgorithm)"
		}
	}
}
Section windows-switch-teams {
	Get-VMSwitch | Where-Object { $_.EmbeddedTeamingEnabled } | Get-VMSwitchTeam | ForEach-Object {
		New-Object PSObject -Property @{
			Name = $_.Name
			Cards = @($_.NetAdapterInterfaceDescription)
			Mode = "$($_.TeamingMode)"
			LoadBalancingAlgorithm = "$($_.LoadBalancingAlgorithm)"
		}
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each team."""
        return cls(
            _teams(rows_of(capture, "windows-teams", LBFO_SOURCE)),
            _teams(rows_of(capture, "windows-switch-teams", SET_SOURCE)),
        )


def _teams(rows: Observed[tuple[Row, ...]]) -> Observed[tuple[Team, ...]]:
    if not isinstance(rows, Known):
        return rows
    found = []
    for row in rows.value:
        name, mode = row.text("Name"), row.text("Mode")
        if isinstance(name, Known):
            said = mode.value if isinstance(mode, Known) else ""
            algorithm = row.text("LoadBalancingAlgorithm")
            members = row.texts("Members") or row.texts("Cards")
            found.append(Team(name.value, members, said, algorithm))
    return Known(tuple(found), rows.source)
