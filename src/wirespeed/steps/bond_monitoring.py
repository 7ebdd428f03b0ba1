"""How a bond that is there watches its members' links."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.facts.json_text import JsonObject, field, object_in, objects_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.marks import key, words


def bond_data(section: Section, netdev: str, source: str) -> Known[JsonObject] | Unreadable:
    """Give what `ip -d -j link` says of a bond."""
    links = objects_of(section.text(source))
    if not isinstance(links, Known):
        return Unreadable(links.reason, source)
    mine = [link for link in links.value if link.get("ifname") == netdev]
    info = object_in(mine[0] if len(mine) == 1 else {}, "linkinfo")
    if info.get("info_kind") != "bond":
        return Unreadable(f"{netdev} is not a bond", source)
    return Known(object_in(info, "info_data"), source)


class BondMonitoring(Step):
    """The bond looks at its members' links every so many milliseconds (miimon).

    A bond that asks by ARP is left alone: the kernel would end that, and forget whom it asked.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    purpose: ClassVar[str] = (
        "A bond that watches no link goes on sending to a port that has lost it."
    )
    phase: ClassVar[Phase | None] = Phase.GUESTS
    step: Literal["bond_monitoring"] = "bond_monitoring"
    netdev: Netdev
    miimon_ms: Annotated[int, Field(ge=1, le=10_000)] = 100

    @property
    def subject(self) -> str:
        return self.netdev

    def read(self) -> Command:
        return Command(argv=("ip", "-j", "-d", "link", "show", "dev", self.netdev))

    @property
    def mark(self) -> str:
        return words(f"{key('miimon')}|{key('arp_interval')}")

    def parse(self, section: Section) -> Observed[State]:
        """Give the interval; 0 is none."""
        source = self.read().line()
        bond = bond_data(section, self.netdev, source)
        if not isinstance(bond, Known):
            return bond
        interval = field(bond.value, "miimon", int, source)
        by_arp = field(bond.value, "arp_interval", int, source)
        if not isinstance(interval, Known):
            return Unreadable(f"miimon: {interval.reason}", source)
        if not isinstance(by_arp, Known) or by_arp.value:
            return Unreadable(f"{self.netdev} watches its members by ARP", source)
        return Known({"miimon": interval.value}, source)

    def wanted(self, before: State) -> State:
        """Give the interval that is asked for; any that there is does."""
        return before if before["miimon"] else {"miimon": self.miimon_ms}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        words = ("type", "bond", "miimon", str(to["miimon"]))
        return (Command(argv=("ip", "link", "set", "dev", self.netdev, *words)),)
