"""Versions of cards' firmware, where their driver tells Windows."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Absent, Known, Observed
from wirespeed.platforms.windows.facts.windows_rows import Row, by_guid, rows_of

SOURCE = "Get-PnpDeviceProperty -KeyName DEVPKEY_Device_FirmwareVersion"


@dataclass(frozen=True, slots=True)
class WindowsFirmware(WindowsFact):
    """By GUID of the adapter. Many drivers tell none: then mlx5cmd -Stat may."""

    rows: Observed[tuple[Row, ...]]
    by_guid: dict[str, Observed[str]]

    powershell: ClassVar[str] = """\
Section windows-firmware {
	Get-NetAdapter | Where-Object { $_.ComponentID -like 'PCI\\VEN_*' } | ForEach-Object {
		$version = Get-PnpDeviceProperty -InstanceId $_.PnPDeviceID `
			-KeyName DEVPKEY_Device_FirmwareVersion -ErrorAction SilentlyContinue
		New-Object PSObject -Property @{
			Guid = "$($_.InterfaceGuid)"
			Version = "$($version.Data)"
		}
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each card."""
        rows = rows_of(capture, "windows-firmware", SOURCE)
        return cls(rows, {guid: row.text("Version") for guid, row in by_guid(rows).items()})

    def of(self, guid: str) -> Observed[str]:
        """Give one card's; Absent where its driver tells none."""
        if guid in self.by_guid:
            return self.by_guid[guid]
        if isinstance(self.rows, Known):
            return Absent(SOURCE, "Windows reports nothing about that adapter")
        return self.rows
