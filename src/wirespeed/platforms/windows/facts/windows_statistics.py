"""What Windows' adapters count: bytes, and frames that they dropped or found broken."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Observed
from wirespeed.platforms.windows.facts.windows_rows import Row, by_guid, rows_of

SOURCE = "Get-NetAdapterStatistics"
COUNTERS = (
    "ReceivedBytes", "SentBytes", "ReceivedDiscardedPackets", "ReceivedPacketErrors",
    "OutboundDiscardedPackets", "OutboundPacketErrors", "ReceivedUnicastPackets",
    "ReceivedMulticastPackets", "ReceivedBroadcastPackets",
)  # fmt: skip
RDMA_COUNTERS = (
    "FailedConnectionAttempts", "ConnectionErrors", "CompletionQueueErrors", "InboundBytes",
    "OutboundBytes",
)  # fmt: skip
"""Of MSFT_NetAdapter_RdmaStatistics: the counters of the performance object *RDMA Activity*, by
names that no language of Windows changes."""


@dataclass(frozen=True, slots=True)
class WindowsStatistics(WindowsFact):
    """By GUID of the adapter, then by the counter's name as Windows has it; since it came up."""

    rows: Observed[tuple[Row, ...]]
    by_guid: dict[str, dict[str, Observed[int]]]
    rdma: dict[str, dict[str, Observed[int]]]
    """The same of RDMA_COUNTERS. Absent: the adapter has no RDMA, or an older collector."""

    powershell: ClassVar[str] = """\
Section windows-statistics {
	Get-NetAdapterStatistics | ForEach-Object {
		New-Object PSObject -Property @{
			Guid = Guid $_
			ReceivedBytes = $_.ReceivedBytes
			SentBytes = $_.SentBytes
			ReceivedDiscardedPackets = $_.ReceivedDiscardedPackets
			ReceivedPacketErrors = $_.ReceivedPacketErrors
			OutboundDiscardedPackets = $_.OutboundDiscardedPackets
			OutboundPacketErrors = $_.OutboundPacketErrors
			ReceivedUnicastPackets = $_.ReceivedUnicastPackets
			ReceivedMulticastPackets = $_.ReceivedMulticastPackets
			ReceivedBroadcastPackets = $_.ReceivedBroadcastPackets
			RdmaFailedConnectionAttempts = $_.RdmaStatistics.FailedConnectionAttempts
			RdmaConnectionErrors = $_.RdmaStatistics.ConnectionErrors
			RdmaCompletionQueueErrors = $_.RdmaStatistics.CompletionQueueErrors
			RdmaInboundBytes = $_.RdmaStatistics.InboundBytes
			RdmaOutboundBytes = $_.RdmaStatistics.OutboundBytes
		}
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each adapter."""
        rows = rows_of(capture, "windows-statistics", SOURCE)
        found = by_guid(rows).items()
        return cls(
            rows,
            {g: {name: row.number(name) for name in COUNTERS} for g, row in found},
            {g: {name: row.number(f"Rdma{name}") for name in RDMA_COUNTERS} for g, row in found},
        )
