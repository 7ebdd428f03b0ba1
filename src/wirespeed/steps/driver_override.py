"""Which driver has a PCI function: vfio-pci, to lend it to a guest, and the former one back."""

import re
from typing import ClassVar, Literal

from wirespeed.model.capture import Section
from wirespeed.model.command import Command, write_file
from wirespeed.model.finding import Danger
from wirespeed.model.names import PciAddress
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.readings import files_of

DRIVER = re.compile(r"[A-Za-z0-9_-]{1,64}")
UNSET = ("(null)", "")
"""What `driver_override` holds where nothing is set: `%s` of no string."""


class DriverOverride(Step):
    """The function is bound to this driver, and to no other whatever is loaded.

    By `driver_override`, which is about this one function; `new_id` would be about every function
    of the same kind. The driver's module is to be loaded before.

    Undo binds the former driver again. What was set on the netdev that it creates again (name, MTU,
    rings, addresses) is for the steps that had set it.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    makes: ClassVar[bool] = True
    purpose: ClassVar[str] = "A guest can own the function; its netdev leaves the host."
    step: Literal["driver_override"] = "driver_override"
    pci_address: PciAddress
    driver: Literal["vfio-pci"] = "vfio-pci"

    @property
    def subject(self) -> str:
        return self.pci_address

    @property
    def _folder(self) -> str:
        return f"/sys/bus/pci/devices/{self.pci_address}"

    def read(self) -> Command:
        """Print the override, and the uevent: its line DRIVER= is the driver that has it."""
        return Command(
            argv=("grep", "-H", "", f"{self._folder}/driver_override", f"{self._folder}/uevent")
        )

    def parse(self, section: Section) -> Observed[State]:
        """Give driver and override; None: bound to none, nothing set."""
        source = self.read().line()
        files = files_of(section, ("driver_override", "uevent"))
        override = files[f"{self._folder}/driver_override"]
        uevent = files[f"{self._folder}/uevent"]
        if not isinstance(uevent, Known) or not isinstance(override, Known):
            failed = uevent if not isinstance(uevent, Known) else override
            return Unreadable(getattr(failed, "reason", ""), source)
        if f"PCI_SLOT_NAME={self.pci_address}" not in uevent.value.split("\n"):
            return Unreadable("its uevent is not that of the function", source)
        driver = re.search(r"^DRIVER=(.*)$", uevent.value, re.M)
        state: State = {
            "driver": driver[1] if driver else None,
            "driver_override": None if override.value in UNSET else override.value,
        }
        for name in state.values():
            if name is not None and not DRIVER.fullmatch(str(name)):
                return Unreadable(f"{str(name)[:40]!r} is not a driver's name", source)
        return Known(state, source)

    def made(self) -> State:
        """Give what a new VF has, if no driver takes it: one that does is seen when its turn is."""
        return {"driver": None, "driver_override": None}

    def wanted(self, before: State) -> State:
        """Give the driver, which keeps the function until undo."""
        return {"driver": self.driver, "driver_override": self.driver}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Say the driver, unbind the one that has it, probe, and leave the override that is due.

        While it is probed the override names the driver on the way back too: with two drivers for
        one kind of card, only the former one takes it.
        """
        commands: list[Command] = []
        override, driver = now["driver_override"], to["driver"]
        if now["driver"] != driver:
            if driver is not None and override != driver:
                commands.append(self._say(override := driver))
            if now["driver"] is not None:
                commands.append(write_file(f"{self._folder}/driver/unbind", self.pci_address))
            if driver is not None:
                commands.append(write_file("/sys/bus/pci/drivers_probe", self.pci_address))
        if override != to["driver_override"]:
            commands.append(self._say(to["driver_override"]))
        return tuple(commands)

    def _say(self, driver: str | int | None) -> Command:
        """Write the override; an empty line takes it away."""
        return write_file(f"{self._folder}/driver_override", "" if driver is None else str(driver))
