"""A network port of a host: what the doctor looks at one by one."""

from dataclasses import dataclass
from enum import StrEnum


class PortKind(StrEnum):
    """What kind of device a netdev is."""

    PHYSICAL = "physical function"
    VIRTUAL_FUNCTION = "virtual function"
    """Seen from within a guest, or in use by the host itself."""
    VIRTIO = "virtio"
    HYPERV = "Hyper-V virtual adapter"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Port:
    """One port. A port that a userspace driver owns has no netdev; a virtual one no PCI address."""

    netdev: str | None
    pci_address: str | None
    driver: str | None
    kind: PortKind

    @property
    def name(self) -> str:
        """What it is called in findings: the netdev, else the PCI address."""
        return self.netdev or self.pci_address or "?"
