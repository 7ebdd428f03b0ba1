"""What Windows' cards do of TCP: segmentation (LSO) and joining (RSC), as in force."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Observed
from wirespeed.platforms.windows.facts.windows_rows import Row, by_guid, rows_of

LSO_SOURCE = "Get-NetAdapterLso"
RSC_SOURCE = "Get-NetAdapterRsc"


@dataclass(frozen=True, slots=True)
class WindowsOffloads(WindowsFact):
    """By GUID of the adapter."""

    lso_rows: Observed[tuple[Row, ...]]
    lso: dict[str, tuple[Observed[bool], Observed[bool]]]
    """For IPv4 and for IPv6."""
    rsc_rows: Observed[tuple[Row, ...]]
    rsc: dict[str, tuple[Observed[bool], Observed[bool]]]
    """In operation, for IPv4 and for IPv6."""
    rsc_reasons: dict[str, tuple[Observed[str], Observed[str]]]
    """Why it is not: `NDISCompatibility`, `WFPCompatibility`, `ForwardingEnabled`, …"""

    powershell: ClassVar[str] = """\
Section windows-lso {
	Get-NetAdapterLso | ForEach-Object {
		New-Object PSObject -Property @{
			Guid = Guid $_
			IPv4 = $_.IPv4Enabled
			IPv6 = $_.IPv6Enabled
		}
	}
}
Section windows-rsc {
	Get-NetAdapterRsc | ForEach-Object {
		New-Object PSObject -Property @{
			Guid = Guid $_
			IPv4Enabled = $_.IPv4Enabled
			IPv6Enabled = $_.IPv6Enabled
			IPv4 = $_.IPv4OperationalState
			IPv6 = $_.IPv6OperationalState
			IPv4FailureReason = "$($_.IPv4FailureReason)"
			IPv6FailureReason = "$($_.IPv6FailureReason)"
		}
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each adapter of both."""
        lso = rows_of(capture, "windows-lso", LSO_SOURCE)
        rsc = rows_of(capture, "windows-rsc", RSC_SOURCE)
        return cls(
            lso,
            {g: (row.truth("IPv4"), row.truth("IPv6")) for g, row in by_guid(lso).items()},
            rsc,
            {g: (row.truth("IPv4"), row.truth("IPv6")) for g, row in by_guid(rsc).items()},
            {
                guid: (row.text("IPv4FailureReason"), row.text("IPv6FailureReason"))
                for guid, row in by_guid(rsc).items()
            },
        )
