"""Addresses of Windows' adapters, and by which of them the rest of the world is reached."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Known, Observed
from wirespeed.platforms.windows.facts.windows_rows import rows_of

ADDRESSES_SOURCE = "Get-NetIPAddress"
ROUTES_SOURCE = "Get-NetRoute"


@dataclass(frozen=True, slots=True)
class WindowsAddresses(WindowsFact):
    """By index of the adapter."""

    by_index: Observed[dict[int, tuple[str, ...]]]
    default_routes: Observed[frozenset[int]]
    """Indices of adapters with a default route, of IPv4 or IPv6."""

    powershell: ClassVar[str] = """\
Section windows-addresses {
	Get-NetIPAddress | ForEach-Object {
		New-Object PSObject -Property @{
			Index = $_.InterfaceIndex
			Address = "$($_.IPAddress)"
			PrefixLength = $_.PrefixLength
		}
	}
}
Section windows-default-routes {
	Get-NetRoute | Where-Object { $_.DestinationPrefix -in '0.0.0.0/0', '::/0' } | ForEach-Object {
		New-Object PSObject -Property @{ Index = $_.InterfaceIndex; NextHop = "$($_.NextHop)" }
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each address, and for each default route."""
        addresses = rows_of(capture, "windows-addresses", ADDRESSES_SOURCE)
        routes = rows_of(capture, "windows-default-routes", ROUTES_SOURCE)
        by_index: dict[int, tuple[str, ...]] = {}
        for row in addresses.value if isinstance(addresses, Known) else ():
            index, address = row.number("Index"), row.text("Address")
            if isinstance(index, Known) and isinstance(address, Known):
                by_index[index.value] = (*by_index.get(index.value, ()), address.value)
        found = [row.number("Index") for row in routes.value] if isinstance(routes, Known) else []
        defaults = frozenset(index.value for index in found if isinstance(index, Known))
        return cls(
            Known(by_index, ADDRESSES_SOURCE) if isinstance(addresses, Known) else addresses,
            Known(defaults, ROUTES_SOURCE) if isinstance(routes, Known) else routes,
        )
