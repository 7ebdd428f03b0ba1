"""A whole port leaves the kernel for DPDK: its driver is vfio-pci, and its netdev is not there."""

import re
from typing import ClassVar, Literal

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.names import Netdev, PciAddress
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.driver_override import DriverOverride
from wirespeed.steps.readings import files_of, number

IFF_UP = 0x1
FLAGS = re.compile(r"0x[0-9a-f]{1,8}\n?")
ETHERNET = 1500
"""MTU of a netdev that a driver has just made."""


class DpdkPort(Step):
    """The function is bound to vfio-pci, by its `driver_override`; the IOMMU is in front of it.

    Undo binds the former driver again and gives the netdev its MTU and sets it up, if it was. What
    else was set on it (rings, channels, offloads) is as its driver makes it.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    makes: ClassVar[bool] = True
    purpose: ClassVar[str] = (
        "DPDK drives the card itself; the kernel has no driver for it meanwhile."
    )
    step: Literal["dpdk_port"] = "dpdk_port"
    pci_address: PciAddress
    netdev: Netdev | None
    """What the kernel calls it; None: it has left already."""

    @property
    def subject(self) -> str:
        return self.pci_address if self.netdev is None else f"{self.pci_address} ({self.netdev})"

    @property
    def _binding(self) -> DriverOverride:
        return DriverOverride(pci_address=self.pci_address)

    @property
    def _settings(self) -> tuple[str, ...]:
        if self.netdev is None:
            return ()
        folder = f"/sys/bus/pci/devices/{self.pci_address}/net/{self.netdev}"
        return (f"{folder}/flags", f"{folder}/mtu")

    def read(self) -> Command:
        """Print driver and override, and of the netdev what it is set to."""
        return Command(argv=(*self._binding.read().argv, *self._settings))

    def parse(self, section: Section) -> Observed[State]:
        """Give them; no MTU and not up where there is no netdev of that name."""
        source = self.read().line()
        binding = self._binding.parse(section)
        if not isinstance(binding, Known):
            return Unreadable(binding.reason, source)
        state: State = {**binding.value, "up": False, "mtu": None}
        if binding.value["driver"] not in (None, self._binding.driver) and self._settings:
            files = files_of(section, self._settings)
            flags, mtu = (files[path] for path in self._settings)
            if not isinstance(flags, Known) or not isinstance(mtu, Known):
                return Unreadable(f"the port has no netdev {self.netdev}", source)
            try:
                if not FLAGS.fullmatch(flags.value):
                    raise ValueError(f"{flags.value[:40]!r} is not a set of flags")
                state |= {"up": bool(int(flags.value, 16) & IFF_UP), "mtu": number(mtu.value)}
            except ValueError as error:
                return Unreadable(str(error), source)
        return Known(state, source)

    def wanted(self, before: State) -> State:
        """Give that DPDK may have it."""
        return {**self._binding.wanted({}), "up": False, "mtu": None}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Bind it; on the way back, wait for the netdev's name and give it what it had."""
        commands = list(self._binding.change(now, to))
        if to["mtu"] is None:
            return tuple(commands)
        # Its name comes from udev, also where somebody was killed after it was bound.
        commands.append(Command(argv=("udevadm", "settle", "--timeout=30")))
        start = ("ip", "link", "set", "dev", str(self.netdev))
        if to["mtu"] != (ETHERNET if now["mtu"] is None else now["mtu"]):
            commands.append(Command(argv=(*start, "mtu", str(to["mtu"]))))
        if to["up"] != now["up"]:
            commands.append(Command(argv=(*start, "up" if to["up"] else "down")))
        return tuple(commands)
