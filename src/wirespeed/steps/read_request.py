"""The size of the read requests of a PCI Express function."""

import re
from typing import ClassVar, Literal

from wirespeed.facts.pci_config import SIZES
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import PciAddress
from wirespeed.model.observed import Observed
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.readings import state_of

DEVICE_CONTROL = "CAP_EXP+8.w"
"""Found by setpci through the list of capabilities: its offset is not the same on every card."""
FIRST_BIT, MASK = 12, 0x7000
"""Max_Read_Request_Size: PCI Express Base Specification 5.0, 7.5.3.4; PCI_EXP_DEVCTL_READRQ."""


class ReadRequest(Step):
    """The function asks for so much in one read; the register's other bits stay as they are.

    A reset of the function or of the card's firmware takes it back.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    writes_card: ClassVar[bool] = True
    purpose: ClassVar[str] = (
        "Each read of a frame or a descriptor costs one request and its header: "
        "larger ones leave more of the slot to the frames."
    )
    phase: ClassVar[Phase | None] = Phase.HOST
    step: Literal["read_request"] = "read_request"
    pci_address: PciAddress
    max_read_request_bytes: Literal[128, 256, 512, 1024, 2048, 4096]

    @property
    def subject(self) -> str:
        return self.pci_address

    def read(self) -> Command:
        return Command(argv=("setpci", "-s", self.pci_address, DEVICE_CONTROL))

    def parse(self, section: Section) -> Observed[State]:
        """Give the size; no device and no capability print nothing."""
        return state_of(section, self.read(), _size)

    def wanted(self, before: State) -> State:
        return {"max_read_request_bytes": self.max_read_request_bytes}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Write the three bits, in one write under a mask."""
        bits = SIZES.index(int(str(to["max_read_request_bytes"]))) << FIRST_BIT
        write = f"{DEVICE_CONTROL}={bits:04x}:{MASK:04x}"
        return (Command(argv=("setpci", "-s", self.pci_address, write)),)


def _size(text: str) -> State:
    if not re.fullmatch(r"[0-9a-f]{4}\n?", text):
        raise ValueError(f"{text[:40]!r} is not a register")
    register = int(text, 16)
    if register == 0xFFFF:
        raise ValueError("all ones: the function is off, or gone from the bus")
    encoding = (register & MASK) >> FIRST_BIT
    if encoding >= len(SIZES):
        raise ValueError(f"read request size {encoding} is reserved")
    return {"max_read_request_bytes": SIZES[encoding]}
