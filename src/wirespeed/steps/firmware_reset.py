"""What waits in a card's firmware comes into force: by a reset of the card, not of the host."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.facts.firmware import Firmware
from wirespeed.model.capture import Capture, Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.names import PciAddress
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.firmware_query import ASKED_S, all_of, answers

LEVEL = re.compile(r"^([0-9]): [^\n]*-Supported[ \t]+\(default\)[ \t]*$", re.M)
HOST_REBOOTS = 4
"""Reset levels from this one on: `Warm Reboot` (mstfwreset, cmd_reg_mfrl.py)."""
KIN = {"mstfwreset": ("mstflint", "mstconfig"), "mlxfwreset": ("flint", "mlxconfig")}


class FirmwareReset(Step):
    """The card runs the firmware that it holds, with the settings that it holds.

    Every port of it goes down for some seconds, its VFs go away (and guests lose theirs), and what
    was set on its netdevs is lost. The tool takes the least level of reset that the card supports;
    where that is a reboot of the host nothing is known, and so nothing is done. Settings that
    change the card's PCI functions may wait for a boot all the same: that is found to contradict.

    THERE IS NO WAY BACK: what was in force before is nowhere any more. So an undo says that this
    host is left changed.
    """

    scope: ClassVar[Scope] = Scope.CARD
    writes_card: ClassVar[bool] = True
    danger: ClassVar[Danger] = Danger.CARD_RESET
    read_s: ClassVar[int] = ASKED_S
    settle_s: ClassVar[float] = 60
    purpose: ClassVar[str] = (
        "What waits in the card comes into force; its ports go down and its VFs go away. "
        "NO WAY BACK."
    )
    phase: ClassVar[Phase | None] = Phase.RESET
    step: Literal["firmware_reset"] = "firmware_reset"
    pci_address: PciAddress
    functions: Annotated[tuple[PciAddress, ...], Field(max_length=64)] = ()
    """The card's other functions: they go down with it."""
    tool: Literal["mstfwreset", "mlxfwreset"] = "mstfwreset"

    @property
    def subject(self) -> str:
        return self.pci_address

    @property
    def waits_for_reboot(self) -> bool:
        """It brings what waits into force itself; what follows is planned from facts read anew."""
        return False

    def read(self) -> Command:
        """Ask what is stored and runs, which reset the card takes, and what its settings are."""
        flint, config = KIN[self.tool]
        return all_of(
            (flint, "-d", self.pci_address, "-qq", "query"),
            (self.tool, "-d", self.pci_address, "query"),
            (config, "-d", self.pci_address, "-e", "q"),
        )

    def parse(self, section: Section) -> Observed[State]:
        """Give whether firmware or a setting waits; unreadable where no reset would bring it."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        found = answers(text.value)
        if len(found) != 1 or "FW Version" not in found[0]:
            return Unreadable("it does not say which firmware is stored", source)
        level = LEVEL.search(text.value)
        if level is None or int(level[1]) >= HOST_REBOOTS:
            return Unreadable("the card takes no reset but a reboot of the host", source)
        table = Section("mstconfig", self.pci_address, section.output, "", 0)
        card = Firmware.parse(Capture([table], complete=True)).cards[self.pci_address]
        if not isinstance(card.settings, Known):
            return Unreadable(card.settings.reason, source)
        waiting = [
            name
            for name, one in card.settings.value.items()
            if isinstance(one.current, Known)
            and isinstance(one.next_boot, Known)
            and one.current.value != one.next_boot.value
        ]
        stored = found[0]["FW Version"]
        is_waiting = found[0].get("FW Version(Running)", stored) != stored
        return Known({"firmware_waits": is_waiting, "settings_wait": bool(waiting)}, source)

    def wanted(self, before: State) -> State:
        return dict.fromkeys(before, False)

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Reset the card; nothing makes anything wait again."""
        if any(now[key] and not value for key, value in to.items()):
            return (Command(argv=(self.tool, "-d", self.pci_address, "-y", "reset")),)
        return ()
