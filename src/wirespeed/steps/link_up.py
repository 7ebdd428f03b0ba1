"""A netdev is set up: its port may have a link."""

from typing import ClassVar, Literal

from wirespeed.facts.json_text import objects_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.marks import UP, key, named, of_links


class LinkUp(Step):
    """The netdev is up, as `ip link set up` makes it; whether its link comes is another thing."""

    scope: ClassVar[Scope] = Scope.BOOT
    purpose: ClassVar[str] = "a port that is down carries nothing, and its VFs carry nothing either"
    step: Literal["link_up"] = "link_up"
    netdev: Netdev

    @property
    def subject(self) -> str:
        return self.netdev

    def read(self) -> Command:
        return Command(argv=("ip", "-j", "link", "show", "dev", self.netdev))

    @property
    def mark(self) -> str:
        return of_links(named(self.netdev), f"{key('ifname')}|{UP}")

    def parse(self, section: Section) -> Observed[State]:
        source = self.read().line()
        links = objects_of(section.text(source))
        if not isinstance(links, Known):
            return Unreadable(links.reason, source)
        mine = [link for link in links.value if link.get("ifname") == self.netdev]
        flags = mine[0].get("flags") if len(mine) == 1 else None
        if not isinstance(flags, list):
            return Unreadable(f"no flags of {self.netdev}", source)
        return Known({"up": "UP" in flags}, source)

    def made(self) -> State:
        """Give what the kernel gives a new netdev, and one that moves into a namespace."""
        return {"up": False}

    def wanted(self, before: State) -> State:
        return {"up": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        way = "up" if to["up"] else "down"
        return (Command(argv=("ip", "link", "set", "dev", self.netdev, way)),)
