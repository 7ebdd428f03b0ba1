"""Whether the netdev of a VF has the MAC address that its PF gives the VF."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator

from wirespeed.model.capture import Section
from wirespeed.model.command import Command, write_file
from wirespeed.model.names import NamespaceName, PciAddress
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.marks import words
from wirespeed.steps.vf_netdev import places_of, read_places

MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
UNBIND = '[ ! -e "$0/driver" ] || basename "$0" >"$0/driver/unbind"'
AWAIT = (
    'for try in $(seq 100); do [ ! -d "$0/net" ] || break; sleep 0.1; done; '
    "! command -v udevadm || udevadm settle --timeout=30"
)
"""A driver that udev loads comes after the VF; udev then gives the netdev another name."""


def _mac(text: str) -> str:
    if not MAC.fullmatch(text):
        raise ValueError(f"{text!r} is not a MAC address in small letters")
    return text


class VfMac(Step):
    """The VF's driver has taken the VF with the MAC address that its PF gives it.

    A driver asks for the address when it takes the VF, which with the kernel's own driver is before
    anybody can say one: igb and mlx5 want the driver to let go of the VF and take it again. The
    netdev is made anew by that, so nobody is to use it. Undo lets go of the VF.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    purpose: ClassVar[str] = "A VF's driver asks its PF for the address once, when it takes the VF."
    step: Literal["vf_mac"] = "vf_mac"
    pci_address: PciAddress
    mac: Annotated[str, AfterValidator(_mac)]
    namespace: NamespaceName
    """Where the netdev may be already, else it is on the host."""

    @property
    def subject(self) -> str:
        return self.pci_address

    @property
    def _folder(self) -> str:
        return f"/sys/bus/pci/devices/{self.pci_address}"

    def read(self) -> Command:
        return read_places(self.namespace)

    @property
    def mark(self) -> str:
        return words(f'"address":"{self.mac}"')

    def parse(self, section: Section) -> Observed[State]:
        """Give whether there is a netdev of this VF with that address."""
        source = self.read().line()
        places = places_of(section, self.pci_address, self.namespace, source)
        if not isinstance(places, Known):
            return Unreadable(places.reason, source)
        mine = places.value.mine
        return Known({"has_mac": mine is not None and mine.mac == self.mac}, source)

    def made(self) -> State:
        """Give what a new VF has: none, or one that was drawn."""
        return {"has_mac": False}

    def wanted(self, before: State) -> State:
        return {"has_mac": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Let go of the VF; then take it again and wait for its netdev, at most some 10 s."""
        unbind = Command(argv=("sh", "-c", UNBIND, self._folder))
        if not to["has_mac"]:
            return (unbind,)
        probe = write_file("/sys/bus/pci/drivers_probe", self.pci_address)
        return (unbind, probe, Command(argv=("sh", "-c", AWAIT, self._folder)))
