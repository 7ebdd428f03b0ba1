"""What is bound to each adapter of Windows: protocols, services and filter drivers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Known, Observed, known
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter
from wirespeed.platforms.windows.facts.windows_rows import Row, rows_of

SOURCE = "Get-NetAdapterBinding -AllBindings -IncludeHidden"
VENDORS: tuple[tuple[str, str, int], ...] = (
    (r"^nt_rtf|realtek", "Realtek", 0x10EC),
    (r"intel\b|^intel_|^iansw|^nt_ians", "Intel", 0x8086),
    (r"mellanox|^mlx_|nvidia", "NVIDIA/Mellanox", 0x15B3),
    (r"broadcom|^brcm|^basp", "Broadcom", 0x14E4),
    (r"marvell|qlogic|aquantia", "Marvell/QLogic/Aquantia", 0x1D6A),
    (r"killer|rivet|^kfeco", "Killer", 0x1969),
    (r"chelsio|^cht_", "Chelsio", 0x1425),
    (r"solarflare", "Solarflare", 0x1924),
)
"""Pattern of a component id or display name, whose card it belongs to, and its PCI vendor."""
OF_WINDOWS = ("ms_", "vms_", "ms-", "wfp", "msft_")
"""What the component ids of Windows' own start with."""


@dataclass(frozen=True, slots=True)
class WindowsBinding:
    """One component on one adapter."""

    guid: str
    """Of the adapter."""
    component_id: str
    """`nt_rtf64`, `ms_tcpip`, `vms_pp`."""
    component_class: str
    """`Service` for a filter, `Transport`, `Client`."""
    bind_name: str
    """The service behind it, which is often the driver's file without `.sys`."""
    display_name: str
    is_enabled: bool

    @property
    def is_of_windows(self) -> bool:
        """Whether it comes with Windows."""
        return self.component_id.lower().startswith(OF_WINDOWS)

    @property
    def card_vendor(self) -> tuple[str, int] | None:
        """Maker of cards that it comes from, by name and PCI vendor; None: of no such maker."""
        for pattern, name, number in VENDORS:
            if re.search(pattern, self.component_id, re.I) or re.search(
                pattern, self.display_name, re.I
            ):
                return name, number
        return None

    def is_own(self, adapter: WindowsAdapter) -> bool:
        """Whether an adapter is of the same maker: by its PCI vendor, or by the maker's name.

        A card on USB has no PCI vendor, and some makers put others' chips on their cards. What
        Hyper-V makes is nobody's own.
        """
        if self.card_vendor is None:
            return False
        name, vendor = self.card_vendor
        said = f"{adapter.description} {adapter.driver_provider}".lower()
        return adapter.pci_vendor == vendor or any(n.lower() in said for n in name.split("/"))

    def is_of_image(self, image: str) -> bool:
        """Whether a driver's file (`rtf64x64.sys`) is likely this component's (`nt_rtf64`)."""
        stem = image.lower().rpartition("\\")[2].removesuffix(".sys")
        if not stem:
            return False
        if stem == self.bind_name.lower():
            return True
        core = re.sub(r"^(nt|ms|insecure|oracle)_", "", self.component_id.lower())
        return min(len(core), len(stem)) >= 4 and (stem.startswith(core) or core.startswith(stem))


@dataclass(frozen=True, slots=True)
class WindowsBindings(WindowsFact):
    """All of them, those that are switched off too."""

    all: Observed[tuple[WindowsBinding, ...]]

    powershell: ClassVar[str] = """\
Section windows-bindings {
	Get-NetAdapterBinding -AllBindings -IncludeHidden | ForEach-Object {
		New-Object PSObject -Property @{
			Guid = Guid $_
			ComponentId = $_.ComponentID
			ComponentClass = "$($_.ComponentClassName)"
			BindName = $_.BindName
			DisplayName = $_.DisplayName
			Enabled = $_.Enabled
		}
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each."""
        rows = rows_of(capture, "windows-bindings", SOURCE)
        if not isinstance(rows, Known):
            return cls(rows)
        return cls(Known(tuple(_bindings(rows.value)), SOURCE))

    def known(self) -> tuple[WindowsBinding, ...]:
        """Give them. Raises CannotTellError where they could not be read."""
        return known(self.all, "what is bound to the adapters")


def _bindings(rows: tuple[Row, ...]) -> Iterator[WindowsBinding]:
    for row in rows:
        component = row.text("ComponentId")
        if not isinstance(component, Known) or not row.guid:
            continue
        others = [row.text(name) for name in ("ComponentClass", "BindName", "DisplayName")]
        kind, bind_name, display = (o.value if isinstance(o, Known) else "" for o in others)
        yield WindowsBinding(
            row.guid, component.value, kind, bind_name, display, row.values.get("Enabled") is True
        )
