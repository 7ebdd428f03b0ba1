"""How Windows spreads an adapter's frames over cores: RSS, and VMQ for virtual machines."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.platforms.windows.facts.windows_rows import Row, by_guid, rows_of

RSS_SOURCE = "Get-NetAdapterRss"
VMQ_SOURCE = "Get-NetAdapterVmq"


@dataclass(frozen=True, slots=True)
class Spread:
    """Of one adapter. A processor is its group times 64 plus its number."""

    is_enabled: Observed[bool]
    queues: Observed[int]
    base_processor: Observed[int]
    max_processor: Observed[int]
    max_processors: Observed[int]
    numa_node: Observed[int]
    profile: Observed[str]
    """`Closest`, `ClosestStatic`, `NUMA`, `NUMAStatic`, `Conservative`."""
    processors: tuple[tuple[int, int], ...]
    """Those that RSS may use, and how far each is from the card: 0 is its own NUMA node."""


@dataclass(frozen=True, slots=True)
class WindowsQueues(WindowsFact):
    """By GUID of the adapter; one that has no RSS stands in no row."""

    rss_rows: Observed[tuple[Row, ...]]
    rss: dict[str, Spread]
    vmq_rows: Observed[tuple[Row, ...]]
    vmq: dict[str, Spread]

    powershell: ClassVar[str] = """\
Section windows-rss {
	Get-NetAdapterRss | ForEach-Object {
		New-Object PSObject -Property @{
			Guid = Guid $_
			Enabled = $_.Enabled
			Queues = $_.NumberOfReceiveQueues
			BaseGroup = $_.BaseProcessorGroup
			Base = $_.BaseProcessorNumber
			MaxGroup = $_.MaxProcessorGroup
			Max = $_.MaxProcessorNumber
			MaxProcessors = $_.MaxProcessors
			NumaNode = $_.NumaNode
			Profile = "$($_.Profile)"
			Processors = @($_.RssProcessorArray | ForEach-Object {
				"$($_.ProcessorGroup):$($_.ProcessorNumber)/$($_.PreferenceIndex)"
			})
		}
	}
}
Section windows-vmq {
	Get-NetAdapterVmq | ForEach-Object {
		New-Object PSObject -Property @{
			Guid = Guid $_
			Enabled = $_.Enabled
			Queues = $_.NumberOfReceiveQueues
			BaseGroup = $_.BaseProcessorGroup
			Base = $_.BaseProcessorNumber
			MaxGroup = $_.MaxProcessorGroup
			Max = $_.MaxProcessorNumber
			MaxProcessors = $_.MaxProcessors
			NumaNode = $_.NumaNode
			Profile = $null
			Processors = @()
		}
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each adapter of both."""
        rss = rows_of(capture, "windows-rss", RSS_SOURCE)
        vmq = rows_of(capture, "windows-vmq", VMQ_SOURCE)
        return cls(
            rss,
            {guid: _spread(row) for guid, row in by_guid(rss).items()},
            vmq,
            {guid: _spread(row) for guid, row in by_guid(vmq).items()},
        )

    def rss_of(self, guid: str) -> Observed[Spread]:
        """Give RSS of one adapter; Unreadable where it was not told."""
        if guid in self.rss:
            return Known(self.rss[guid], RSS_SOURCE)
        if isinstance(self.rss_rows, Known):
            return Unreadable("Windows reports nothing about that adapter", RSS_SOURCE)
        return self.rss_rows


def _spread(row: Row) -> Spread:
    return Spread(
        row.truth("Enabled"),
        row.number("Queues"),
        _processor(row, "BaseGroup", "Base"),
        _processor(row, "MaxGroup", "Max"),
        row.number("MaxProcessors"),
        row.number("NumaNode"),
        row.text("Profile"),
        tuple(p for text in row.texts("Processors") if (p := _preferred(text)) is not None),
    )


def _processor(row: Row, group: str, number: str) -> Observed[int]:
    at, within = row.number(group), row.number(number)
    if not isinstance(at, Known) or not isinstance(within, Known):
        return within if isinstance(at, Known) else at
    if at.value > 64 or within.value > 63:
        return Unreadable(f"processor {at.value}:{within.value}", row.source)
    return Known(at.value * 64 + within.value, row.source)


def _preferred(text: str) -> tuple[int, int] | None:
    place, _, distance = text.partition("/")
    group, _, number = place.partition(":")
    parts = (group, number, distance)
    if not all(part.isascii() and part.isdecimal() and len(part) < 6 for part in parts):
        return None
    return int(group) * 64 + int(number), int(distance)
