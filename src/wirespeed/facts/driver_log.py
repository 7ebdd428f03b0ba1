"""What the kernel said when it refused a network card, or a part of one."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.module import DRIVERS_TOO, REFUSALS, log_of
from wirespeed.facts.ports import Ports
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.model.port import Port

VF_BARS = re.compile(r"BAR (?:[7-9]|1[0-2])\b|\bVF BAR\b|not enough MMIO resources for SR-IOV")
"""BARs 7 to 12 are those of the VFs (drivers/pci/pci.h, PCI_IOV_RESOURCES)."""
REFUSAL = re.compile("|".join(REFUSALS))
MOST_SHOWN = 4


@dataclass(frozen=True, slots=True)
class DriverLog(Fact):
    """Refusals by the PCI address of the function that they are about, the newest last."""

    refusals: dict[str, tuple[str, ...]]
    log: Observed[str]
    """Known when the kernel's messages could be read; those at boot may be gone from them."""

    script: ClassVar[str] = ""
    """The lines come with those about modules: the messages are read once."""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the section `module-messages` once more, for what is about drivers."""
        log = log_of(capture)
        if isinstance(log, Known) and DRIVERS_TOO not in log.value.splitlines():
            reason = "a former version of the collector read it for modules alone"
            log = Unreadable(reason, log.source)
        addresses = {p.pci_address for p in Ports.parse(capture).ports if p.pci_address}
        refusals: dict[str, tuple[str, ...]] = {}
        for line in log.value.splitlines() if isinstance(log, Known) else ():
            if REFUSAL.search(line):
                for address in addresses:
                    if re.search(rf"\b{re.escape(address)}\b", line):
                        refusals[address] = (*refusals.get(address, ()), _message(line))
        return cls(refusals, log)

    def of(self, port: Port) -> Observed[tuple[str, ...]]:
        """Give the refusals of one port; Absent: the kernel told none."""
        found = self.refusals.get(port.pci_address or "")
        if found:
            return Known(found[-MOST_SHOWN:], "dmesg")
        return self.log if isinstance(self.log, Unreadable) else Absent("dmesg", "no refusal")

    def has_no_room_for_vfs(self, address: str) -> bool:
        """Whether the kernel found no room for the BARs of a function's VFs."""
        return any(VF_BARS.search(line) for line in self.refusals.get(address, ()))


def _message(line: str) -> str:
    """Give a line without its time, at most so long."""
    return re.sub(r"^\[[ \d.]+\] ?", "", line).strip()[:160]
