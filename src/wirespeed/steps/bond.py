"""A bond over ports of this host or guest."""

from ipaddress import IPv4Address
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from wirespeed.facts.json_text import object_in, objects_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.names import NETDEV, Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.marks import UP, key, named, of_links

MASTERS = ("bond", "bridge", "team")
"""Kinds of master that `ip link set … master` gives a port to, and back to."""
NO_ARP = ("802.3ad", "balance-tlb", "balance-alb")
WITH_PRIMARY = ("active-backup", "balance-tlb", "balance-alb")
"""Modes that ARP monitoring, or a primary port, is not for: drivers/net/bonding/bond_options.c."""


class Bond(Step):
    """The bond is there and up, and these ports are its members.

    Whoever has another bond of that name keeps it: then there is nothing that can be planned.
    The kernel wants a port to be down when it joins, brings it up itself, gives it the MTU of the
    bond, and leaves it down when it goes: undo gives each its master back, and its being up. What
    the kernel drops with the link is lost: IPv6 addresses and routes of the members, and what a
    bridge had set for the port.

    A VF does not hear of its port's link on some cards: there, watch by ARP, not by miimon. Where
    a VF may not change its MAC, `fail_over_mac` is to be `active`.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    makes: ClassVar[bool] = True
    step: Literal["bond"] = "bond"
    netdev: Netdev
    members: Annotated[tuple[Netdev, ...], Field(min_length=1, max_length=16)]
    mode: Literal[
        "active-backup", "balance-xor", "802.3ad", "balance-rr", "balance-tlb", "balance-alb"
    ]
    miimon_ms: Annotated[int, Field(ge=0, le=10_000)] = 0
    """How often the members' link is looked at; 0: not, as ARP is."""
    arp_interval_ms: Annotated[int, Field(ge=0, le=10_000)] = 0
    arp_ip_targets: Annotated[tuple[IPv4Address, ...], Field(max_length=16)] = ()
    arp_validate: Literal["active", "backup", "all"] | None = None
    """Of whom nothing but the answers counts: else any frame does, of another guest on the same
    card too, and that is heard with no link at all."""
    primary: Netdev | None = None
    """Member that carries the traffic whenever it can."""
    fail_over_mac: Literal["none", "active", "follow"] | None = None
    xmit_hash_policy: Literal["layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4"] | None = (
        None
    )
    reason: Annotated[str, Field(max_length=200)] = ""
    """Why its members are watched as they are."""

    @model_validator(mode="after")
    def _is_possible(self) -> "Bond":
        if len({self.netdev, *self.members}) != 1 + len(self.members):
            raise ValueError("a netdev is named twice")
        if bool(self.miimon_ms) == bool(self.arp_interval_ms):
            raise ValueError("the members are watched either by miimon or by ARP")
        if bool(self.arp_interval_ms) != bool(self.arp_ip_targets):
            raise ValueError("ARP needs an interval and whom to ask")
        if self.arp_validate is not None and not self.arp_interval_ms:
            raise ValueError("arp_validate needs an ARP interval")
        if self.arp_interval_ms and self.mode in NO_ARP:
            raise ValueError(f"{self.mode} watches no member by ARP")
        if self.primary is not None and (
            self.primary not in self.members or self.mode not in WITH_PRIMARY
        ):
            raise ValueError(f"{self.primary} cannot be primary")
        return self

    @property
    def subject(self) -> str:
        return self.netdev

    @property
    def why(self) -> str:
        why = "Traffic goes on over another port when one is lost; ports are down while they join."
        return f"{why} {self.reason}".strip()

    def read(self) -> Command:
        return Command(argv=("ip", "-j", "-d", "link", "show"))

    @property
    def mark(self) -> str:
        return of_links(named(self.netdev, *self.members), f"{key('ifname')}|{key('master')}|{UP}")

    def parse(self, section: Section) -> Observed[State]:
        """Give whether the bond is there and up, and the master and state of each member."""
        source = self.read().line()
        found = objects_of(section.text(source))
        if not isinstance(found, Known):
            return Unreadable(found.reason, source)
        links = {str(link.get("ifname")): link for link in found.value}
        bond = links.get(self.netdev)
        if bond is not None and (other := self._other(bond)):
            return Unreadable(f"there is another {self.netdev} already: {other}", source)
        state: State = {
            "is_there": bond is not None,
            "is_up": None if bond is None else _is_up(bond),
        }
        for member in self.members:
            if member not in links:
                return Unreadable(f"there is no {member}", source)
            master = links[member].get("master")
            if master is not None and not self._can_return_to(links.get(str(master)), master):
                return Unreadable(f"{member} belongs to {str(master)[:40]!r}", source)
            state[_master(member)] = master
            state[_up(member)] = _is_up(links[member])
        return Known(state, source)

    def _options(self) -> dict[str, Any]:
        """Give them by the words that `ip` takes and prints."""
        options: dict[str, Any] = {"mode": self.mode}
        if self.miimon_ms:
            options["miimon"] = self.miimon_ms
        else:
            options["arp_interval"] = self.arp_interval_ms
            options["arp_ip_target"] = [str(address) for address in self.arp_ip_targets]
        for word in ("arp_validate", "primary", "fail_over_mac", "xmit_hash_policy"):
            if getattr(self, word) is not None:
                options[word] = getattr(self, word)
        return options

    def _other(self, link: dict[str, Any]) -> str:
        """Say in what it is not this bond; nothing where it is."""
        info = object_in(link, "linkinfo")
        data = object_in(info, "info_data")
        if info.get("info_kind") != "bond":
            return "it is not a bond"
        for word, value in {"mode": "", "miimon": 0, "arp_interval": 0, **self._options()}.items():
            if word == "primary" and word not in data:
                continue  # It is told when it has joined.
            if data.get(word) != value:
                return f"{word} {str(data.get(word))[:40]}"
        return ""

    def _can_return_to(self, master: dict[str, Any] | None, name: object) -> bool:
        kind = object_in(master or {}, "linkinfo").get("info_kind")
        return kind in MASTERS and NETDEV.fullmatch(str(name)) is not None

    def made(self) -> State:
        """Give that there is none, over ports that were just made: they are down."""
        state: State = {"is_there": False, "is_up": None}
        for member in self.members:
            state |= {_master(member): None, _up(member): False}
        return state

    def wanted(self, before: State) -> State:
        """Give the bond with its members, all up."""
        wanted: State = {"is_there": True, "is_up": True}
        for member in self.members:
            wanted |= {_master(member): self.netdev, _up(member): True}
        return wanted

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Make the bond, move each port whose master differs, then the bond's state or its end."""
        commands: list[Command] = []
        if to["is_there"] and not now["is_there"]:
            commands.append(self._make())
        for member in self.members:
            commands += self._move(member, now, to)
        if not to["is_there"]:
            if now["is_there"]:
                commands.append(Command(argv=("ip", "link", "del", "dev", self.netdev)))
        elif bool(now["is_up"]) != to["is_up"]:
            commands.append(_set(self.netdev, "up" if to["is_up"] else "down"))
        return tuple(commands)

    def _make(self) -> Command:
        words: list[str] = []
        for word, value in self._options().items():
            words += [word, ",".join(value) if isinstance(value, list) else str(value)]
        return Command(argv=("ip", "link", "add", "dev", self.netdev, "type", "bond", *words))

    def _move(self, member: str, now: State, to: State) -> list[Command]:
        up = "up" if to[_up(member)] else "down"
        master = to[_master(member)]
        if now[_master(member)] == master:
            return [] if now[_up(member)] == to[_up(member)] else [_set(member, up)]
        if master is None:
            # A port that leaves a bond is left down.
            return [_set(member, "nomaster"), _set(member, up)]
        # bond_enslave() refuses a port that is up.
        return [_set(member, "down"), _set(member, "master", str(master)), _set(member, up)]


def _set(netdev: str, *words: str) -> Command:
    return Command(argv=("ip", "link", "set", "dev", netdev, *words))


def _master(member: str) -> str:
    return f"{member} master"


def _up(member: str) -> str:
    return f"{member} is_up"


def _is_up(link: dict[str, Any]) -> bool:
    flags = link.get("flags")
    return isinstance(flags, list) and "UP" in flags
