"""The slots of a Windows host's cards: where each sits, and what its PCIe link is and could be."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Known, Observed, Unreadable, read_as
from wirespeed.model.pcie_link import PcieLink
from wirespeed.platforms.windows.facts.windows_rows import Row, by_guid, rows_of

SOURCE = "Get-NetAdapterHardwareInfo"
GT_PER_S = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
"""As in Link Status: PCI Express Base Specification, section 7.5.3.8."""


@dataclass(frozen=True, slots=True)
class WindowsHardware:
    """One card."""

    pci_address: str
    """`0000:03:00.0`; empty where it is not told."""
    slot: Observed[int]
    numa_node: Observed[int]
    lanes: Observed[int]
    gt_per_s: Observed[float]
    max_lanes: Observed[int]
    """What the card can do; what the slot could is not told."""
    max_gt_per_s: Observed[float]
    payload_bytes: Observed[int]
    read_request_bytes: Observed[int]
    """The largest that the card may ask for."""

    @property
    def link(self) -> Observed[PcieLink]:
        """The link as it is, for a ceiling."""
        if not isinstance(self.lanes, Known):
            return self.lanes
        if not isinstance(self.gt_per_s, Known):
            return self.gt_per_s
        if not 1 <= self.lanes.value <= 32:
            return Unreadable(f"a width of {self.lanes.value}", SOURCE)
        return Known(
            PcieLink(self.gt_per_s.value, self.lanes.value, _size(self.payload_bytes)), SOURCE
        )


@dataclass(frozen=True, slots=True)
class WindowsHardwares(WindowsFact):
    """By GUID of the adapter."""

    rows: Observed[tuple[Row, ...]]
    by_guid: dict[str, WindowsHardware]

    powershell: ClassVar[str] = """\
Section windows-hardware {
	Get-NetAdapterHardwareInfo | ForEach-Object {
		New-Object PSObject -Property @{
			Guid = Guid $_
			Segment = $_.SegmentNumber
			Bus = $_.BusNumber
			Device = $_.DeviceNumber
			Function = $_.FunctionNumber
			Slot = $_.SlotNumber
			NumaNode = $_.NumaNode
			Lanes = $_.PciExpressCurrentLinkWidth
			Speed = $_.PciExpressCurrentLinkSpeedEncoded
			MaxLanes = $_.PciExpressMaxLinkWidth
			MaxSpeed = $_.PciExpressMaxLinkSpeedEncoded
			Payload = $_.PciExpressCurrentPayloadSize
			MaxReadRequest = $_.PciExpressMaxReadRequestSize
		}
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each card."""
        rows = rows_of(capture, "windows-hardware", SOURCE)
        return cls(rows, {guid: _hardware(row) for guid, row in by_guid(rows).items()})

    def of(self, guid: str) -> Observed[WindowsHardware]:
        """Give one card's; Unreadable where it was not told."""
        if guid in self.by_guid:
            return Known(self.by_guid[guid], SOURCE)
        if isinstance(self.rows, Known):
            return Unreadable("Windows reports nothing about that adapter", SOURCE)
        return self.rows


def _hardware(row: Row) -> WindowsHardware:
    return WindowsHardware(
        pci_address=_address(row),
        slot=row.number("Slot"),
        numa_node=row.number("NumaNode"),
        lanes=row.number("Lanes"),
        gt_per_s=read_as(row.number("Speed"), _gt_per_s),
        max_lanes=row.number("MaxLanes"),
        max_gt_per_s=read_as(row.number("MaxSpeed"), _gt_per_s),
        payload_bytes=row.number("Payload"),
        read_request_bytes=row.number("MaxReadRequest"),
    )


def _gt_per_s(encoded: int) -> float:
    if encoded not in GT_PER_S:
        raise ValueError(f"{encoded} is not a speed of PCI Express")
    return GT_PER_S[encoded]


def _size(observed: Observed[int]) -> int | None:
    """A payload size in bytes; None where it is none that the standard has."""
    if isinstance(observed, Known) and observed.value in (128, 256, 512, 1024, 2048, 4096):
        return observed.value
    return None


def _address(row: Row) -> str:
    parts = [row.number(name) for name in ("Bus", "Device", "Function")]
    if not all(isinstance(part, Known) for part in parts):
        return ""
    segment = row.number("Segment")
    domain = segment.value if isinstance(segment, Known) else 0
    bus, device, function = (part.value for part in parts if isinstance(part, Known))
    if domain > 0xFFFF or bus > 0xFF or device > 0x1F or function > 7:
        return ""
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function}"
