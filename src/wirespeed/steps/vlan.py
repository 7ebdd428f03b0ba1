"""A netdev that carries one VLAN of another."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from wirespeed.facts.json_text import object_in, objects_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.marks import UP, key, named, of_links

PROTOCOL = "802.1Q"


class Vlan(Step):
    """The netdev is there and up, and sends and takes the frames of one tag of the lower one.

    Whoever has another netdev of that name keeps it: then there is nothing that can be planned.
    Undo removes it, with the addresses and routes that it has by then.
    """

    scope: ClassVar[Scope] = Scope.GUEST
    makes: ClassVar[bool] = True
    step: Literal["vlan"] = "vlan"
    netdev: Netdev
    """`bond0.40`."""
    lower: Netdev
    vlan: Annotated[int, Field(ge=1, le=4094)]

    @model_validator(mode="after")
    def _is_another(self) -> "Vlan":
        if self.netdev == self.lower:
            raise ValueError(f"{self.netdev} cannot lie on itself")
        return self

    @property
    def subject(self) -> str:
        return self.netdev

    @property
    def why(self) -> str:
        return f"Frames of VLAN {self.vlan} have a netdev of their own, apart from all others."

    def read(self) -> Command:
        return Command(argv=("ip", "-j", "-d", "link", "show"))

    @property
    def mark(self) -> str:
        return of_links(named(self.netdev), f"{key('ifname')}|{UP}")

    def parse(self, section: Section) -> Observed[State]:
        source = self.read().line()
        found = objects_of(section.text(source))
        if not isinstance(found, Known):
            return Unreadable(found.reason, source)
        links = {str(link.get("ifname")): link for link in found.value}
        if self.lower not in links:
            return Unreadable(f"there is no {self.lower}", source)
        mine = links.get(self.netdev)
        if mine is None:
            return Known({"is_there": False, "is_up": None}, source)
        info = object_in(mine, "linkinfo")
        data = object_in(info, "info_data")
        has = (info.get("info_kind"), mine.get("link"), data.get("protocol"), data.get("id"))
        if has != ("vlan", self.lower, PROTOCOL, self.vlan):
            what = " ".join(str(word)[:40] for word in has if word is not None)
            return Unreadable(f"there is another {self.netdev} already: {what}", source)
        flags = mine.get("flags")
        return Known({"is_there": True, "is_up": isinstance(flags, list) and "UP" in flags}, source)

    def made(self) -> State:
        """Give that it is not there: on a bond that is new there is no VLAN."""
        return {"is_there": False, "is_up": None}

    def wanted(self, before: State) -> State:
        return {"is_there": True, "is_up": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Make it and set it up, or remove it."""
        if not to["is_there"]:
            return (Command(argv=("ip", "link", "del", "dev", self.netdev)),)
        commands = []
        if not now["is_there"]:
            kind = ("type", "vlan", "id", str(self.vlan))
            add = ("ip", "link", "add", "link", self.lower, "name", self.netdev, *kind)
            commands.append(Command(argv=add))
        if bool(now["is_up"]) != to["is_up"]:
            way = "up" if to["is_up"] else "down"
            commands.append(Command(argv=("ip", "link", "set", "dev", self.netdev, way)))
        return tuple(commands)
