"""SMB of Windows: which pair of interfaces a connection uses, and which it could have used."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import HostFacts, WindowsFact
from wirespeed.model.observed import Absent, Known, Observed
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapters
from wirespeed.platforms.windows.facts.windows_rows import Row, rows_of

SOURCE = "Get-SmbMultichannelConnection -IncludeNotSelected"
CLIENT_SOURCE = "Get-SmbClientNetworkInterface"
SERVER_SOURCE = "Get-SmbServerNetworkInterface"
SETTING_SOURCE = "Get-Smb{}Configuration | Select-Object EnableMultiChannel"


@dataclass(frozen=True, slots=True)
class SmbPair:
    """An interface here and one of a server, as one kind of path: RDMA, RSS or neither.

    Windows lists two interfaces twice if they can be joined by RDMA and by TCP.
    """

    server: str
    address: str
    """Of the server's interface."""
    instance: str
    """Whose connections they are: `Default`, `CSV`, `SBL` or `SR`."""
    client_index: int
    is_selected: Observed[bool]
    client_rss: Observed[bool]
    server_rss: Observed[bool]
    client_rdma: Observed[bool]
    server_rdma: Observed[bool]
    client_bps: Observed[int]
    server_bps: Observed[int]
    channels: Observed[int]
    """Connections that are open on it."""
    has_failed: Observed[bool]
    failures: Observed[int]

    @property
    def connection(self) -> tuple[str, str]:
        """Whose pair it is: one of the same server and instance can stand in for it."""
        return self.server.lower(), self.instance


@dataclass(frozen=True, slots=True)
class WindowsSmb(WindowsFact):
    """Of this host as a client, and whether it offers the same as a server."""

    pairs: Observed[tuple[SmbPair, ...]]
    """Selected or not; none without an open connection."""
    client_rdma: Observed[dict[int, Observed[bool]]]
    """Whether SMB's client finds an interface capable of RDMA, by its index."""
    server_rdma: Observed[dict[int, Observed[bool]]]
    client_multichannel: Observed[bool]
    server_multichannel: Observed[bool]

    # learn.microsoft.com, MSFT_SmbMultichannelConnection, MSFT_SmbClientNetworkInterface and
    # MSFT_SmbServerNetworkInterface: speeds are in bit/s.
    powershell: ClassVar[str] = """\
Section windows-smb-connections {
	Get-SmbMultichannelConnection -IncludeNotSelected | ForEach-Object {
		New-Object PSObject -Property @{
			Server = $_.ServerName
			ServerAddress = $_.ServerIpAddress
			Instance = "$($_.SmbInstance)"
			ClientIndex = $_.ClientInterfaceIndex
			Selected = $_.Selected
			ClientRss = $_.ClientRSSCapable
			ServerRss = $_.ServerRSSCapable
			ClientRdma = $_.ClientRdmaCapable
			ServerRdma = $_.ServerRdmaCapable
			ClientBps = $_.ClientLinkSpeed
			ServerBps = $_.ServerLinkSpeed
			Channels = $_.CurrentChannels
			Failed = $_.Failed
			FailureCount = $_.FailureCount
		}
	}
}
Section windows-smb-client-interfaces {
	Get-SmbClientNetworkInterface | ForEach-Object {
		New-Object PSObject -Property @{ Index = $_.InterfaceIndex; Rdma = $_.RdmaCapable }
	}
}
Section windows-smb-server-interfaces {
	Get-SmbServerNetworkInterface | ForEach-Object {
		New-Object PSObject -Property @{ Index = $_.InterfaceIndex; Rdma = $_.RdmaCapable }
	}
}
Section windows-smb-client {
	Get-SmbClientConfiguration | ForEach-Object {
		New-Object PSObject -Property @{ Multichannel = $_.EnableMultiChannel }
	}
}
Section windows-smb-server {
	Get-SmbServerConfiguration | ForEach-Object {
		New-Object PSObject -Property @{ Multichannel = $_.EnableMultiChannel }
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each pair, each interface, and each end's setting."""
        rows = rows_of(capture, "windows-smb-connections", SOURCE)
        if isinstance(rows, Known):
            found = (_pair(row) for row in rows.value)
            pairs: Observed[tuple[SmbPair, ...]] = Known(
                tuple(pair for pair in found if pair is not None), SOURCE
            )
        else:
            pairs = rows
        return cls(
            pairs,
            _rdma(rows_of(capture, "windows-smb-client-interfaces", CLIENT_SOURCE)),
            _rdma(rows_of(capture, "windows-smb-server-interfaces", SERVER_SOURCE)),
            _multichannel(capture, "client"),
            _multichannel(capture, "server"),
        )


def path_of(host: HostFacts, pair: SmbPair) -> str:
    """Give the adapter's name and the server's address, for a person."""
    return f"{interface_of(host, pair)} to {shown(pair.address, 45) or shown(pair.server, 60)}"


def interface_of(host: HostFacts, pair: SmbPair) -> str:
    """Give the adapter's name, or its index where the adapters are not known."""
    adapters = host[WindowsAdapters].all
    for adapter in adapters.value if isinstance(adapters, Known) else ():
        if adapter.index == pair.client_index:
            return shown(adapter.name, 60)
    return f"ifIndex {pair.client_index}"


def _pair(row: Row) -> SmbPair | None:
    server, index = row.text("Server"), row.number("ClientIndex")
    if not isinstance(server, Known) or not isinstance(index, Known):
        return None
    return SmbPair(
        server=server.value,
        address=_plain(row.text("ServerAddress")),
        instance=_plain(row.text("Instance")),
        client_index=index.value,
        is_selected=row.truth("Selected"),
        client_rss=row.truth("ClientRss"),
        server_rss=row.truth("ServerRss"),
        client_rdma=row.truth("ClientRdma"),
        server_rdma=row.truth("ServerRdma"),
        client_bps=row.number("ClientBps"),
        server_bps=row.number("ServerBps"),
        channels=row.number("Channels"),
        has_failed=row.truth("Failed"),
        failures=row.number("FailureCount"),
    )


def _plain(text: Observed[str]) -> str:
    return text.value if isinstance(text, Known) else ""


def _rdma(rows: Observed[tuple[Row, ...]]) -> Observed[dict[int, Observed[bool]]]:
    """An interface has a row for each address and scope: it is capable if one of them is."""
    if not isinstance(rows, Known):
        return rows
    found: dict[int, Observed[bool]] = {}
    for row in rows.value:
        index, is_capable = row.number("Index"), row.truth("Rdma")
        if isinstance(index, Known) and found.get(index.value) != Known(True, rows.source):
            found[index.value] = is_capable
    return Known(found, rows.source)


def _multichannel(capture: Capture, end: str) -> Observed[bool]:
    source = SETTING_SOURCE.format(end.title())
    rows = rows_of(capture, f"windows-smb-{end}", source)
    if not isinstance(rows, Known):
        return rows
    if not rows.value:
        return Absent(source, f"no SMB {end}")
    return rows.value[0].truth("Multichannel")
