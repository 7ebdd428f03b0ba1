"""The mode of a card's embedded switch: legacy, or switchdev with its representors."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.facts.json_text import json_of, object_in
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.names import Netdev, PciAddress
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step

MODES = ("legacy", "switchdev")
UDEV_S = 30
"""For the netdev to have its name again."""
AS_FOUND = (
    'said=$("$@" 2>&1) || case $said in *"parameters changed"*) ;; '
    '*) printf "%s\\n" "$said" >&2; exit 1 ;; esac'
)
"""An ethtool by ioctl fails with `no ring parameters changed` where the driver's default is it."""


class EswitchMode(Step):
    """The PF's embedded switch has this mode.

    mlx5 wants the VFs to be gone or unbound before; it makes the port's netdev anew, with
    representors of the VFs in switchdev mode. Either way it forgets channels and rings (seen on
    Linux 6.12: one channel in switchdev mode, one for each CPU in legacy mode, rings of 1024), so
    those that are given here are set again after each change, that of undo included.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    makes: ClassVar[bool] = True
    step: Literal["eswitch_mode"] = "eswitch_mode"
    pci_address: PciAddress
    mode: Literal["legacy", "switchdev"]
    netdev: Netdev | None = None
    """Of the PF: it is made anew, so what other steps set on it is read again. None: none is."""
    combined: Annotated[int, Field(ge=1, le=1024)] | None = None
    """Channels as found; None: they were not read."""
    rx: Annotated[int, Field(ge=1, le=1 << 20)] | None = None
    tx: Annotated[int, Field(ge=1, le=1 << 20)] | None = None
    """Descriptors of each ring as found."""

    @property
    def subject(self) -> str:
        return self.pci_address

    @property
    def why(self) -> str:
        if self.mode == "switchdev":
            return "Each VF has a representor on the host, on which flows can be offloaded."
        return "VFs are switched by MAC and VLAN, as the driver does by itself."

    @property
    def _handle(self) -> str:
        return f"pci/{self.pci_address}"

    def read(self) -> Command:
        return Command(argv=("devlink", "-j", "dev", "eswitch", "show", self._handle))

    def parse(self, section: Section) -> Observed[State]:
        source = self.read().line()
        found = json_of(section.text(source))
        if not isinstance(found, Known):
            return Unreadable(found.reason, source)
        devices = object_in(found.value, "dev") if isinstance(found.value, dict) else {}
        mode = object_in(devices, self._handle).get("mode")
        if mode not in MODES:
            return Unreadable(f"mode {str(mode)[:40]!r}", source)
        return Known({"mode": mode}, source)

    def wanted(self, before: State) -> State:
        return {"mode": self.mode}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        argv = ("devlink", "dev", "eswitch", "set", self._handle, "mode", str(to["mode"]))
        named = Command(argv=("udevadm", "settle", f"--timeout={UDEV_S}"))
        return (Command(argv=argv), *((named, *self._as_found()) if self.netdev else ()))

    def _as_found(self) -> Iterator[Command]:
        rings = {"rx": self.rx, "tx": self.tx}
        for flag, found in (("-L", {"combined": self.combined}), ("-G", rings)):
            words = [w for name, n in found.items() if n is not None for w in (name, str(n))]
            if words:
                argv = ("sh", "-c", AS_FOUND, "sh", "ethtool", flag, str(self.netdev), *words)
                yield Command(argv=argv)
