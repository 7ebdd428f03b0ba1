"""The name of a netdev, which is found by its PCI address."""

from typing import ClassVar, Literal

from wirespeed.facts.json_text import objects_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.names import NETDEV, Netdev, PciAddress
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.marks import key, literal, of_links

BY_ADDRESS = (
    'netdev=$(ls "/sys/bus/pci/devices/$0/net") && ip link set dev "$netdev" down && '
    'ip link set dev "$netdev" name "$1"'
)
"""For one that is not there yet when the plan is made. In one command the kernel would name it
before it sets it down (do_setlink)."""
NAMED_BACK = (
    'ip link property del dev "$0" altname "$1" 2>/dev/null; ip link set dev "$0" name "$1"'
)
"""To a netdev that is called otherwise, udev (AlternativeNamesPolicy, systemd.link(5)) gives the
name of its own choice as a further one, and the kernel refuses it as the first then: File exists.
Seen with systemd 252 on Linux 6.12."""

NO_PARENT = (
    "`ip -d link` does not say which PCI function a netdev is of: that needs Linux 5.14 and "
    "iproute2 5.14, or later"
)
"""IFLA_PARENT_DEV_NAME of the kernel; else no netdev would be found, whatever its driver does."""


class NetdevName(Step):
    """The netdev of the PCI function is called so.

    Linux before 6.2 names no netdev that is up: it is set down and stays so, for who renames it
    sets it up after. Undo gives the former name, and sets it up if it was.
    """

    scope: ClassVar[Scope] = Scope.GUEST
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    makes: ClassVar[bool] = True
    purpose: ClassVar[str] = (
        "A name that says network and port, whatever the guest's own rule for names is."
    )
    step: Literal["netdev_name"] = "netdev_name"
    pci_address: PciAddress
    netdev: Netdev

    @property
    def subject(self) -> str:
        return f"{self.pci_address} as {self.netdev}"

    def read(self) -> Command:
        """List all netdevs with what they belong to."""
        return Command(argv=("ip", "-j", "-d", "link", "show"))

    @property
    def mark(self) -> str:
        return of_links(f'"parentdev":"{literal(self.pci_address)}"', key("ifname"))

    def parse(self, section: Section) -> Observed[State]:
        """Give the name and whether it is up; unreadable where the function has none."""
        source = self.read().line()
        links = objects_of(section.text(source))
        if not isinstance(links, Known):
            return Unreadable(links.reason, source)
        mine = [
            link
            for link in links.value
            if link.get("parentdev") == self.pci_address and link.get("parentbus") == "pci"
        ]
        if links.value and not any("parentdev" in link for link in links.value):
            return Unreadable(NO_PARENT, source)
        if len(mine) != 1:
            return Unreadable(f"{self.pci_address} has {len(mine) or 'no'} netdevs", source)
        name, flags = mine[0].get("ifname"), mine[0].get("flags")
        if not isinstance(name, str) or not NETDEV.fullmatch(name) or not isinstance(flags, list):
            return Unreadable(f"{str(name)[:40]!r} is not a netdev's name", source)
        if name != self.netdev and any(link.get("ifname") == self.netdev for link in links.value):
            return Unreadable(f"another netdev is called {self.netdev}", source)
        # Once it has its name, whether it is up is for others.
        is_up = None if name == self.netdev else "UP" in flags
        return Known({"netdev": name, "is_up": is_up}, source)

    def made(self) -> State:
        """Give what it has when the guest has booted: a name that its own rules give."""
        return {"netdev": None, "is_up": False}

    def wanted(self, before: State) -> State:
        return {"netdev": self.netdev, "is_up": None}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Set it down, name it, and on the way back set it up if it was."""
        name, new, is_up = now["netdev"], to["netdev"], to["is_up"]
        if now == to or new is None:
            return ()
        commands: list[Command] = []
        if name is None:
            commands.append(Command(argv=("sh", "-c", BY_ADDRESS, self.pci_address, str(new))))
        elif name != new:
            commands.append(_set(str(name), "down"))
            is_back = new != self.netdev
            named = _set(str(name), "name", str(new))
            commands.append(named_back(str(name), str(new)) if is_back else named)
        if is_up is not None and (is_up or name == new):
            commands.append(_set(str(new), "up" if is_up else "down"))
        return tuple(commands)


def _set(netdev: str, *words: str) -> Command:
    return Command(argv=("ip", "link", "set", "dev", netdev, *words))


def named_back(netdev: str, former: str) -> Command:
    """Give it its former name, which may have become its further one meanwhile."""
    return Command(argv=("sh", "-c", NAMED_BACK, netdev, former))
