"""How Hyper-V moves guests to another host: by TCP, compressed, or by SMB."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Absent, Known, Observed
from wirespeed.platforms.windows.facts.windows_rows import rows_of

SOURCE = "Get-VMHost | Format-List VirtualMachineMigration*"


@dataclass(frozen=True, slots=True)
class WindowsMigration(WindowsFact):
    """Settings of the migration service. Absent: no Hyper-V."""

    is_enabled: Observed[bool]
    by_smb: Observed[bool]
    """It uses SMB: every port of Multichannel, and RDMA where there is any. Compression comes
    before it where both are set, as Get-VMHost reports it."""
    is_compressed: Observed[bool]
    """Over TCP; the default of Windows Server 2016 and newer."""

    # learn.microsoft.com, hyperv_v2, Msvm_VirtualSystemMigrationServiceSettingData. The namespace
    # is there where Hyper-V is installed.
    powershell: ClassVar[str] = """\
Section windows-migration {
	$there = Get-CimInstance -Namespace 'root' -ClassName __NAMESPACE |
		Where-Object { $_.Name -eq 'virtualization' }
	if ($there) {
		Get-CimInstance -Namespace 'root\\virtualization\\v2' `
			-ClassName Msvm_VirtualSystemMigrationServiceSettingData | ForEach-Object {
			New-Object PSObject -Property @{
				Enabled = $_.EnableVirtualSystemMigration
				Smb = $_.EnableSmbTransport
				Compressed = $_.EnableCompression
			}
		}
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the one row."""
        rows = rows_of(capture, "windows-migration", SOURCE)
        if not isinstance(rows, Known) or not rows.value:
            nothing = (
                Absent(SOURCE, "Hyper-V is not installed") if isinstance(rows, Known) else rows
            )
            return cls(nothing, nothing, nothing)
        row = rows.value[0]
        by_smb, is_compressed = row.truth("Smb"), row.truth("Compressed")
        if isinstance(is_compressed, Known) and is_compressed.value:
            by_smb = Known(False, SOURCE)
        return cls(row.truth("Enabled"), by_smb, is_compressed)
