"""A netdev is set up: its port may have a link."""

from typing import ClassVar, Literal

from wirespeed.facts.json_text import objects_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step


class LinkUp(Step):
    """The netdev is up, as `ip link set up` makes it; whether its link comes is another thing."""

    scope: ClassVar[Scope] = Scope.BOOT
    step: Literal["link_up"] = "link_up"
    netdev: Netdev

    @property
    def subject(self) -> str:
        """The netdev."""
        return self.netdev

    @property
    def why(self) -> str:
        """Say what it is good for."""
        return "a port that is down carries nothing, and its VFs carry nothing either"

    def read(self) -> Command:
        """Print the netdev with its flags."""
        return Command(argv=("ip", "-j", "link", "show", "dev", self.netdev))

    def parse(self, section: Section) -> Observed[State]:
        """Give whether it is set up."""
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

    def wanted(self, before: State) -> State:  # noqa: ARG002
        """Up."""
        return {"up": True}

    def change(self, now: State, to: State) -> tuple[Command, ...]:
        """Set it up, or down again."""
        if now == to:
            return ()
        way = "up" if to["up"] else "down"
        return (Command(argv=("ip", "link", "set", "dev", self.netdev, way)),)
