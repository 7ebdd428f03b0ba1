"""Who writes the rules of a card's embedded switch: its firmware, or the driver."""

from typing import ClassVar, Literal

from wirespeed.facts.steering_mode import NAME, RUNTIME, source_of, steering_mode
from wirespeed.model.capture import Section
from wirespeed.model.command import Command, write_file
from wirespeed.model.names import Netdev, PciAddress
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step

MODES = ("dmfs", "smfs", "hmfs")


class SteeringMode(Step):
    """Rules of the port's embedded switch are written by: dmfs, the firmware; smfs, the driver.

    mlx5 takes another value only in legacy mode (mlx5_fs_mode_validate), so it stands before the
    change to switchdev; undo sets it back after the way back to legacy. Linux 5.17 and later start
    with smfs where the card can do it; earlier ones, and vendors' drivers, with dmfs.

    Two spellings: devlink's parameter, and a file that vendors' drivers have for a host whose
    devlink does not know it.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    purpose: ClassVar[str] = (
        "The driver writes flows into the card itself, not by a command of the firmware for each; "
        "it can be set only before switchdev mode."
    )
    step: Literal["steering_mode"] = "steering_mode"
    pci_address: PciAddress
    mode: Literal["dmfs", "smfs"]
    netdev: Netdev | None = None
    """By the vendor's file of this netdev; None: by devlink."""

    @property
    def subject(self) -> str:
        return self.pci_address

    @property
    def _path(self) -> str:
        return f"/sys/class/net/{self.netdev}/compat/devlink/steering_mode"

    def read(self) -> Command:
        if self.netdev is not None:
            return Command(argv=("cat", self._path))
        return Command(argv=tuple(source_of(self.pci_address).split(" ")))

    def parse(self, section: Section) -> Observed[State]:
        """Give the mode; unreadable where this driver has none."""
        source = self.read().line()
        text = section.text(source)
        found = text if self.netdev is not None else steering_mode(text, self.pci_address)
        if not isinstance(found, Known):
            return Unreadable(found.reason, source)
        mode = found.value.strip()
        if mode not in MODES:
            return Unreadable(f"mode {mode[:40]!r}", source)
        return Known({"mode": mode}, source)

    def wanted(self, before: State) -> State:
        return {"mode": self.mode}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        mode = str(to["mode"])
        if self.netdev is not None:
            return (write_file(self._path, mode),)
        start = ("devlink", "dev", "param", "set", f"pci/{self.pci_address}")
        return (Command(argv=(*start, "name", NAME, "value", mode, "cmode", RUNTIME)),)
