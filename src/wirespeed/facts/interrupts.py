"""Interrupts of the network functions: where they may land, and where they did."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed


@dataclass(frozen=True, slots=True)
class Interrupt:
    """One interrupt of a PCI function."""

    number: int
    name: str
    """As the driver calls it: `mlx5_comp3@pci:0000:03:00.0`, `virtio2-input.0`, `eth0-TxRx-3`."""
    count_of_cpu: dict[int, int]
    """CPU: interrupts that it took since boot, at the start of the capture; 0 is left out."""
    new_of_cpu: Observed[dict[int, int]]
    """CPU: interrupts that it took during the capture; 0 is left out."""
    irq_affinity: Observed[frozenset[int]]
    """CPUs that it may land on: `smp_affinity_list`."""
    effective_affinity: Observed[frozenset[int]]
    """CPUs that it is programmed for; on x86 exactly one."""

    @property
    def moves_frames(self) -> bool:
        """It belongs to a queue, and not to the function's control, events or management."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Interrupts(Fact):
    """Interrupts by the PCI function that raises them."""

    functions: dict[str, Observed[tuple[Interrupt, ...]]]

    script: ClassVar[str] = ""
    script_again: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `msi-irqs`, `interrupts`, `interrupts-again` and the files of `irq`."""
        raise NotImplementedError

    def of(self, pci_address: str) -> Observed[tuple[Interrupt, ...]]:
        """Interrupts of one function that have a handler; unreadable where none was listed."""
        raise NotImplementedError
