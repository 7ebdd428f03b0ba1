"""By which addresses of Windows somebody is logged in, by SSH or WinRM: they are not to be cut."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Known, Observed
from wirespeed.platforms.windows.facts.windows_rows import rows_of

SOURCE = "Get-NetTCPConnection -State Established"


@dataclass(frozen=True, slots=True)
class WindowsSessions(WindowsFact):
    """Of all who are logged in: which of them is ours, Windows does not say by WinRM."""

    local_addresses: Observed[frozenset[str]]
    """Of this host; a connection from itself is none."""

    # WinRM's are the system's own connections: the registry has its ports beside the usual ones.
    # Those of sshd are known by what it listens on.
    powershell: ClassVar[str] = """\
Section windows-sessions {
	$ports = @(5985, 5986)
	$winrm = 'HKLM:\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WSMAN\\Listener'
	Get-ChildItem -Path $winrm -ErrorAction SilentlyContinue | ForEach-Object {
		$ports += $_.GetValue('Port')
	}
	$sshd = @(Get-Process -Name sshd -ErrorAction SilentlyContinue | ForEach-Object { $_.Id })
	$all = @(Get-NetTCPConnection)
	$all | ForEach-Object {
		if ("$($_.State)" -eq 'Listen' -and $sshd -contains $_.OwningProcess) {
			$ports += $_.LocalPort
		}
	}
	$all | ForEach-Object {
		if ("$($_.State)" -eq 'Established' -and $ports -contains $_.LocalPort) {
			New-Object PSObject -Property @{
				Address = "$($_.LocalAddress)"
				RemoteAddress = "$($_.RemoteAddress)"
			}
		}
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each connection."""
        rows = rows_of(capture, "windows-sessions", SOURCE)
        if not isinstance(rows, Known):
            return cls(rows)
        found: set[str] = set()
        for row in rows.value:
            local, remote = row.text("Address"), row.text("RemoteAddress")
            if isinstance(local, Known) and not (
                isinstance(remote, Known) and remote.value == local.value
            ):
                # Of an address of the link, its adapter stands behind it: fe80::1%12.
                found.add(local.value.partition("%")[0])
        return cls(Known(frozenset(found), SOURCE))
