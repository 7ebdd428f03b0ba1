"""Settings that a card of Mellanox or NVIDIA keeps in its firmware, from the next boot on."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.facts.firmware import Firmware
from wirespeed.model.capture import TIMED_OUT_RETURNCODE, Capture, Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.names import PciAddress
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.firmware_query import ASKED_S

Setting = Literal["SRIOV_EN", "NUM_OF_VFS", "CQE_COMPRESSION", "LINK_TYPE_P1", "LINK_TYPE_P2"]
VALUE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\(([0-9]{1,9})\)|([0-9]{1,9})")
"""`16`, `True(1)`, `AGGRESSIVE(1)`."""
SAID = re.compile(r"^-E- (.*\S)", re.M)


class FirmwareSettings(Step):
    """The card starts with these settings at the next boot; those in force stay until then.

    Each VF asks for memory of the PCI bus (BAR) at the boot, used or not: with too many some
    servers do not come up again, and the way back is to take the card out. So no more than are
    needed.

    Undo stores the values that stood there, and waits for a boot as well. What had never been set
    is then set, to the value that it had.
    """

    scope: ClassVar[Scope] = Scope.CARD
    writes_card: ClassVar[bool] = True
    danger: ClassVar[Danger] = Danger.FIRMWARE
    read_s: ClassVar[int] = ASKED_S
    phase: ClassVar[Phase | None] = Phase.NEXT_BOOT
    step: Literal["firmware_settings"] = "firmware_settings"
    pci_address: PciAddress
    """Of one function of the card; the settings are the whole card's."""
    tool: Literal["mstconfig", "mlxconfig"] = "mstconfig"
    settings: Annotated[dict[Setting, Annotated[int, Field(ge=0, le=65535)]], Field(min_length=1)]

    @property
    def subject(self) -> str:
        return self.pci_address

    @property
    def why(self) -> str:
        """Say what waits for the boot, and what a boot with too many VFs may do."""
        if "NUM_OF_VFS" in self.settings:
            return (
                "The card offers VFs after the next boot; each asks for PCI memory then, and some "
                "servers do not boot with too many, or without `Above 4G decoding` in the BIOS."
            )
        return "The card starts with them at the next boot."

    def read(self) -> Command:
        """Ask for these alone: to ask for all of them takes a card seconds."""
        return Command(argv=(self.tool, "-d", self.pci_address, "-e", "q", *self.settings))

    def parse(self, section: Section) -> Observed[State]:
        """Give what the next boot takes; unreadable where the card has no such setting."""
        source = self.read().line()
        if section.returncode in (None, TIMED_OUT_RETURNCODE):
            return Unreadable("the table was cut off", source)
        asked = Section(
            self.tool, self.pci_address, section.output, section.errors, section.returncode
        )
        card = Firmware.parse(Capture([asked], complete=True)).cards[self.pci_address]
        if not isinstance(card.settings, Known):
            # Of one that it does not have, the tool says so, and tells nothing of the others.
            error = SAID.search(f"{section.output}\n{section.errors}")
            return Unreadable(error[1][:80] if error else card.settings.reason, source)
        state: State = {}
        for name in self.settings:
            setting = card.settings.value.get(name)
            if setting is None:
                return Unreadable(f"the card has no setting {name}", source)
            value = setting.next_boot
            match = VALUE.fullmatch(value.value) if isinstance(value, Known) else None
            if match is None:
                said = value.value[:40] if isinstance(value, Known) else value.reason
                return Unreadable(f"{name} at the next boot: {said}", source)
            state[name] = int(match[1] or match[2])
        return Known(state, source)

    def wanted(self, before: State) -> State:
        return {str(name): value for name, value in self.settings.items()}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Store what differs, in one command: the tool judges the whole of it before it writes."""
        words = [f"{name}={value}" for name, value in to.items() if now[name] != value]
        if not words:
            return ()
        return (Command(argv=(self.tool, "-d", self.pci_address, "-y", "set", *words)),)
