"""A netdev has an IP address."""

from ipaddress import IPv4Interface, IPv6Interface, ip_interface
from typing import ClassVar, Literal

from wirespeed.facts.json_text import objects_in, objects_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.marks import literal, words


class Address(Step):
    """The netdev has the address, with this prefix; other addresses stay.

    Undo removes it. An IPv4 address of the same subnet that came after it goes with it, unless
    the sysctl `promote_secondaries` is on: that is the kernel's doing.
    """

    scope: ClassVar[Scope] = Scope.GUEST
    step: Literal["address"] = "address"
    netdev: Netdev
    address: IPv4Interface | IPv6Interface
    """`192.0.2.2/24`."""

    @property
    def subject(self) -> str:
        return self.netdev

    @property
    def why(self) -> str:
        return f"Peers of {self.address.network} are reached through this port."

    def read(self) -> Command:
        return Command(argv=("ip", "-j", "addr", "show", "dev", self.netdev))

    @property
    def mark(self) -> str:
        bits = self.address.network.prefixlen
        local = literal(str(self.address.ip))
        return words(f'"local":"{local}",("[a-z]+":[^,]*,)*"prefixlen":{bits}[,}}]')

    def parse(self, section: Section) -> Observed[State]:
        """Tell whether the address is among them; one that another host has is as good as none."""
        source = self.read().line()
        links = objects_of(section.text(source))
        if not isinstance(links, Known):
            return Unreadable(links.reason, source)
        mine = [link for link in links.value if link.get("ifname") == self.netdev]
        if len(mine) != 1 or not isinstance(mine[0].get("addr_info"), list):
            return Unreadable(f"no addresses of {self.netdev}", source)
        is_there = False
        for one in objects_in(mine[0], "addr_info"):
            try:
                address = ip_interface(f"{one.get('local')}/{one.get('prefixlen')}")
            except ValueError:
                return Unreadable(f"{str(one.get('local'))[:40]!r} is not an address", source)
            if address != self.address:
                continue
            if one.get("dadfailed"):
                return Unreadable(f"another host has {self.address.ip}", source)
            is_there = True
        return Known({"is_there": is_there}, source)

    def made(self) -> State:
        """Give that it is not there: a new netdev has no address of ours."""
        return {"is_there": False}

    def wanted(self, before: State) -> State:
        return {"is_there": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        verb = "add" if to["is_there"] else "del"
        return (Command(argv=("ip", "addr", verb, str(self.address), "dev", self.netdev)),)
