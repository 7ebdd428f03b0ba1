"""SR-IOV of a Windows host: what the cards say, and what Hyper-V says of the machine."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Known, Observed, Unreadable, read_as
from wirespeed.platforms.windows.facts.windows_rows import Row, by_guid, rows_of

SOURCE = "Get-NetAdapterSriov"
HOST_SOURCE = "Get-VMHost"
SUPPORTED = "Supported"
SUPPORT = {
    "0": "Unknown", "1": SUPPORTED, "2": "MissingAcs", "3": "MissingPfDriver",
    "4": "NoBusResources", "5": "NoIommuSupport", "6": "NoVfBarSpace", "7": "NoOscSupport",
}  # fmt: skip
"""MSFT_NetAdapterHardwareInfoSettingData has numbers, which PowerShell shows by these words."""


@dataclass(frozen=True, slots=True)
class AdapterSriov:
    """Of one card."""

    is_enabled: Observed[bool]
    support: Observed[str]
    """`Supported`, or the reason why it is not: `NoVfBarSpace`, `MissingAcs`."""
    vfs: Observed[int]
    """How many its firmware gives."""


@dataclass(frozen=True, slots=True)
class WindowsSriov(WindowsFact):
    """By GUID of the adapter; and the machine."""

    rows: Observed[tuple[Row, ...]]
    by_guid: dict[str, AdapterSriov]
    host_support: Observed[bool]
    host_reasons: tuple[str, ...]
    """Why the machine can not, in Hyper-V's own words."""

    powershell: ClassVar[str] = """\
Section windows-sriov {
	Get-NetAdapterSriov | ForEach-Object {
		New-Object PSObject -Property @{
			Guid = Guid $_
			Enabled = $_.Enabled
			Support = "$($_.SriovSupport)"
			Vfs = $_.NumVFs
		}
	}
}
Section windows-vmhost {
	$machine = Get-VMHost
	New-Object PSObject -Property @{
		IovSupport = $machine.IovSupport
		IovSupportReasons = @($machine.IovSupportReasons)
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each card, and the one of the machine."""
        rows = rows_of(capture, "windows-sriov", SOURCE)
        host = rows_of(capture, "windows-vmhost", HOST_SOURCE)
        if not isinstance(host, Known):
            support: Observed[bool] = host
            reasons: tuple[str, ...] = ()
        elif not host.value:
            support, reasons = Unreadable("Hyper-V says nothing of it", HOST_SOURCE), ()
        else:
            support = host.value[0].truth("IovSupport")
            reasons = host.value[0].texts("IovSupportReasons")
        return cls(rows, {g: _sriov(row) for g, row in by_guid(rows).items()}, support, reasons)


def _named(support: str) -> str:
    return SUPPORT.get(support, support)


def _sriov(row: Row) -> AdapterSriov:
    return AdapterSriov(
        row.truth("Enabled"), read_as(row.text("Support"), _named), row.number("Vfs")
    )
