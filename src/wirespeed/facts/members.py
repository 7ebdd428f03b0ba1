"""What shares a load, and what each of its members carried during the capture."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.facts.bonds import Bonds
from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ovs import Ovs
from wirespeed.model.ceiling import Direction
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known, known

SPREADING = ("802.3ad", "balance-xor", "balance-rr", "balance-tlb", "balance-alb")
"""Modes in which every member with a link sends: Documentation/networking/bonding.rst."""
OVS_SPREADING = ("balance-slb", "balance-tcp")
"""ovs-vswitchd.conf.db(5), bond_mode."""
PLACES = {Direction.RECEIVE: Place.RECEIVED, Direction.TRANSMIT: Place.SENT}


@dataclass(frozen=True, slots=True)
class Whole:
    """A bond whose members all carry traffic."""

    name: str
    members: tuple[str, ...]
    """Those with a link."""
    source: str
    """The command that lists them."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member and what it counted."""

    netdev: str
    frames: int
    source: str
    """The command that shows the count again."""


@dataclass(frozen=True, slots=True)
class Carried:
    """Frames of each member in one direction, the same seconds for all."""

    whole: Whole
    direction: Direction
    members: tuple["Member", ...]
    """The least first."""

    @property
    def total(self) -> int:
        """Of all members."""
        return sum(one.frames for one in self.members)

    @property
    def fair(self) -> float:
        """What each would carry of many flows that are spread by a hash."""
        return self.total / len(self.members)

    def chance_of_none(self, flows: int) -> float:
        """Give how probable it is that a hash leaves one member without any of so many flows."""
        return (1 - 1 / len(self.members)) ** flows


def wholes(host: HostFacts) -> Iterator[Whole]:
    """Give every bond of at least two members with a link, in a mode that uses all of them."""
    for name, mode, source in _kernel_bonds(host):
        members = _with_link(host, name)
        if mode in SPREADING and len(members) > 1:
            yield Whole(name, members, source)
    ovs = host[Ovs]
    for port in ovs.ports.values():
        members = tuple(name for name in port.interfaces if _has_link(ovs, name))
        how = port.bond_mode
        if len(members) > 1 and isinstance(how, Known) and how.value in OVS_SPREADING:
            yield Whole(port.name, members, f"ovs-appctl bond/show {port.name}")


def _has_link(ovs: Ovs, name: str) -> bool:
    interface = ovs.interfaces.get(name)
    state = interface.link_state if interface else None
    return isinstance(state, Known) and state.value == "up"


def _kernel_bonds(host: HostFacts) -> Iterator[tuple[str, str, str]]:
    links = host[NetStack].links
    for link in links.value.values() if isinstance(links, Known) else ():
        if link.bond is not None and isinstance(link.bond.mode, Known):
            yield link.netdev, link.bond.mode.value, f"ip -d link show master {link.netdev}"


def _with_link(host: HostFacts, bond: str) -> tuple[str, ...]:
    """Members that the bond itself takes for up; where its file was not read, those with a link."""
    state = host[Bonds].bonds.get(bond)
    if isinstance(state, Known):
        up = [one.netdev for one in state.value.members if one.is_up == Known(True, state.source)]
        return tuple(up)
    members = host[NetStack].members(bond)
    return tuple(link.netdev for link in members if "LOWER_UP" in link.flags)


def carried(host: HostFacts, whole: Whole, direction: Direction) -> Carried:
    """Give what each member carried. Raises CannotTellError where one was not counted twice."""
    counters = host[Counters]
    members = []
    for netdev in whole.members:
        delta = counters.delta(netdev, PLACES[direction])
        frames = known(delta, f"frames of {netdev}, a member of {whole.name}").frames
        members.append(Member(netdev, frames, delta.source))
    return Carried(whole, direction, tuple(sorted(members, key=lambda one: one.frames)))
