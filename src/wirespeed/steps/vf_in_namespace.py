"""The netdev of a VF within a network namespace, under a name of its own."""

from typing import ClassVar, Literal

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import NamespaceName, Netdev, PciAddress
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.marks import UP, key, literal, of_links
from wirespeed.steps.vf_netdev import places_of, read_places

NOT_SEEN_YET = None
"""Name of a netdev that an earlier step makes: the kernel and udev give it one then."""
BY_ADDRESS = 'ip link set dev "$(ls "/sys/bus/pci/devices/$0/net")" netns "$1" name "$2"'
HOST = "1"
"""Namespace of the host: that of its process 1."""


class VfInNamespace(Step):
    """The VF's netdev is in the namespace, and called so there.

    It is found by its PCI address, whatever it is called. The kernel sets it down as it moves and
    drops its addresses; one that belongs to a bond or a bridge is left alone. Undo moves it back
    under its former name, up if it was.
    """

    scope: ClassVar[Scope] = Scope.GUEST
    makes: ClassVar[bool] = True
    purpose: ClassVar[str] = (
        "The guest reaches the card by its own VF; nothing else on the host sees it."
    )
    step: Literal["vf_in_namespace"] = "vf_in_namespace"
    pci_address: PciAddress
    namespace: NamespaceName
    netdev: Netdev

    @property
    def subject(self) -> str:
        """What it is about, and where that goes."""
        return f"{self.pci_address} as {self.netdev} in {self.namespace}"

    def read(self) -> Command:
        return read_places(self.namespace)

    @property
    def mark(self) -> str:
        mine = f'"parentdev":"{literal(self.pci_address)}"'
        return of_links(rf"^\[|{mine}", rf"^\[|{key('ifname')}|{UP}")

    def parse(self, section: Section) -> Observed[State]:
        """Give where it is, its name there, and on the host whether it is up."""
        source = self.read().line()
        places = places_of(section, self.pci_address, self.namespace, source)
        if not isinstance(places, Known):
            return Unreadable(places.reason, source)
        mine = places.value.mine
        if mine is None:
            return Unreadable(f"{self.pci_address} has no netdev here", source)
        if mine.is_in_namespace:
            return Known(self._there(mine.name), source)
        if mine.has_master:
            return Unreadable(f"{mine.name} belongs to a bond or a bridge", source)
        if self.netdev in places.value.others_there:
            return Unreadable(f"there is another {self.netdev} in {self.namespace}", source)
        return Known({"namespace": None, "netdev": mine.name, "is_up": mine.is_up}, source)

    def made(self) -> State:
        """Give what a new VF's netdev is like."""
        return {"namespace": None, "netdev": NOT_SEEN_YET, "is_up": False}

    def _there(self, name: str) -> State:
        return {"namespace": self.namespace, "netdev": name, "is_up": None}

    def wanted(self, before: State) -> State:
        """Give that it is there under that name; who brings it up is not asked."""
        return self._there(self.netdev)

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Move it, name it, and set it up again on the host if it was."""
        commands: list[Command] = []
        name, is_up = str(to["netdev"]), now["is_up"]
        at = () if to["namespace"] is None else ("-n", str(to["namespace"]))
        if now["namespace"] != to["namespace"]:
            commands.append(self._move(now, to))
            is_up = False
        elif now["netdev"] != to["netdev"]:
            # Netdevs that are up have kept their names until Linux 6.2.
            commands.append(_set(at, str(now["netdev"]), "down"))
            commands.append(_set(at, str(now["netdev"]), "name", name))
            is_up = False
        if to["is_up"] and not is_up:
            commands.append(_set(at, name, "up"))
        elif to["is_up"] is False and is_up:
            commands.append(_set(at, name, "down"))
        return tuple(commands)

    def _move(self, now: State, to: State) -> Command:
        to_place = HOST if to["namespace"] is None else str(to["namespace"])
        named = () if to["netdev"] is NOT_SEEN_YET else ("name", str(to["netdev"]))
        if now["netdev"] is NOT_SEEN_YET:
            argv = ("sh", "-c", BY_ADDRESS, self.pci_address, to_place, str(to["netdev"]))
            return Command(argv=argv)
        at = () if now["namespace"] is None else ("-n", str(now["namespace"]))
        return _set(at, str(now["netdev"]), "netns", to_place, *named)


def _set(at: tuple[str, ...], netdev: str, *words: str) -> Command:
    return Command(argv=("ip", *at, "link", "set", "dev", netdev, *words))
