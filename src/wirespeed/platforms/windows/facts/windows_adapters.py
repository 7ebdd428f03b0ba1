"""The network adapters of a Windows host, hidden and virtual ones too."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Known, Observed, known
from wirespeed.platforms.windows.facts.windows_rows import Row, rows_of

SOURCE = "Get-NetAdapter -IncludeHidden"
PCI_ID = re.compile(r"PCI\\VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", re.I)
MAX_NAME = 256
HYPERV = "vms_"
"""Component ids of what Hyper-V makes: vms_mp (an adapter of the host on a switch), vms_vsmp."""


@dataclass(frozen=True, slots=True)
class WindowsAdapter:
    """One adapter. Its index and GUID say which it is; its name is only for people."""

    index: int
    guid: str
    name: str
    """As the user or Windows calls it, in any script."""
    description: str
    status: Observed[str]
    """`Up`, `Disconnected`, `Disabled`, `Not Present`."""
    link_bps: Observed[int]
    """Absent: it tells none."""
    is_virtual: bool
    is_hidden: bool
    mac: str
    """Twelve digits in lower case, no separator; empty where there is none."""
    mtu_bytes: Observed[int]
    vlan: Observed[int]
    driver_provider: str
    driver_version: Observed[str]
    driver_file: Observed[str]
    """`mlx5.sys`."""
    component_id: str
    r"""`PCI\VEN_15B3&DEV_1019&SUBSYS_000815B3`, `vms_mp`."""

    @property
    def pci_vendor(self) -> int | None:
        """PCI vendor of the card; None where there is no card behind it."""
        match = PCI_ID.match(self.component_id)
        return int(match[1], 16) if match else None

    @property
    def is_card(self) -> bool:
        """Whether it is a card of PCI, and none that Windows or a program makes up."""
        return self.pci_vendor is not None and not self.is_virtual

    @property
    def is_up(self) -> bool:
        """Whether it has a link."""
        return isinstance(self.status, Known) and self.status.value == "Up"

    @property
    def is_of_switch(self) -> bool:
        """Whether it is the host's own adapter on a switch of Hyper-V: vEthernet."""
        return self.component_id.lower().startswith(HYPERV)

    @property
    def has_safe_name(self) -> bool:
        """Whether its description can stand in a command, so that it is what a person would see."""
        text = self.description
        return 0 < len(text) <= MAX_NAME and text.isprintable() and text == text.strip()

    @property
    def shown_bps(self) -> int | None:
        """Its speed, if Windows reports it."""
        return self.link_bps.value if isinstance(self.link_bps, Known) else None


@dataclass(frozen=True, slots=True)
class WindowsAdapters(WindowsFact):
    """All of them, by index."""

    all: Observed[tuple[WindowsAdapter, ...]]

    powershell: ClassVar[str] = """\
Section windows-adapters {
	Get-NetAdapter -IncludeHidden | ForEach-Object {
		New-Object PSObject -Property @{
			Index = $_.ifIndex
			Guid = "$($_.InterfaceGuid)"
			Name = $_.Name
			Description = $_.InterfaceDescription
			Status = "$($_.Status)"
			TransmitBps = $_.TransmitLinkSpeed
			ReceiveBps = $_.ReceiveLinkSpeed
			Virtual = $_.Virtual
			Hidden = $_.Hidden
			Mac = $_.MacAddress
			Mtu = $_.MtuSize
			Vlan = $_.VlanID
			DriverProvider = $_.DriverProvider
			DriverVersion = "$($_.DriverVersion)"
			DriverFile = $_.DriverFileName
			ComponentId = $_.ComponentID
		}
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each; one without an index and a GUID is none."""
        rows = rows_of(capture, "windows-adapters", SOURCE)
        if not isinstance(rows, Known):
            return cls(rows)
        found = (_adapter(row) for row in rows.value)
        return cls(Known(tuple(a for a in found if a is not None), SOURCE))

    def known(self) -> tuple[WindowsAdapter, ...]:
        """Give them. Raises CannotTellError where they could not be read."""
        return known(self.all, "the adapters of Windows")

    def cards(self) -> tuple[WindowsAdapter, ...]:
        """Give those that are a card."""
        return tuple(adapter for adapter in self.known() if adapter.is_card)

    def by_guid(self, guid: str) -> WindowsAdapter | None:
        """Give one by its GUID; None where there is none, or none could be read."""
        adapters = self.all.value if isinstance(self.all, Known) else ()
        return next((a for a in adapters if a.guid == guid), None)


def _adapter(row: Row) -> WindowsAdapter | None:
    index = row.number("Index")
    if not isinstance(index, Known) or not row.guid:
        return None
    both = row.number("TransmitBps"), row.number("ReceiveBps")
    slower = min((b for b in both if isinstance(b, Known)), key=lambda b: b.value, default=both[0])
    return WindowsAdapter(
        index=index.value,
        guid=row.guid,
        name=_plain(row.text("Name")) or f"ifIndex {index.value}",
        description=_plain(row.text("Description")),
        status=row.text("Status"),
        link_bps=slower,
        is_virtual=row.values.get("Virtual") is True,
        is_hidden=row.values.get("Hidden") is True,
        mac=_plain(row.text("Mac")).replace("-", "").replace(":", "").lower(),
        mtu_bytes=row.number("Mtu"),
        vlan=row.number("Vlan"),
        driver_provider=_plain(row.text("DriverProvider")),
        driver_version=row.text("DriverVersion"),
        driver_file=row.text("DriverFile"),
        component_id=_plain(row.text("ComponentId")),
    )


def _plain(text: Observed[str]) -> str:
    return text.value if isinstance(text, Known) else ""
