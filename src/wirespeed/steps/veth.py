"""A pair of virtual Ethernet ports: one end on the host, the other in a guest's namespace."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.facts.json_text import object_in, objects_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import NamespaceName, Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.marks import key, words

MAC = r"^[0-9a-f][02468ace](:[0-9a-f]{2}){5}$"
"""Of one station."""
NOT_THERE = "does not exist"


class Veth(Step):
    """The pair is there, its far end in the namespace under the name `inside`.

    For a switch of the host that has no representor of a VF to give to the guest. A netdev of
    another kind that has the name keeps it: then nothing can be planned. Undo removes both ends.
    """

    scope: ClassVar[Scope] = Scope.GUEST
    makes: ClassVar[bool] = True
    purpose: ClassVar[str] = "Joins a guest to the host's switch, where the card has no VF for it."
    step: Literal["veth"] = "veth"
    netdev: Netdev
    namespace: NamespaceName
    inside: Netdev
    mac: Annotated[str, Field(pattern=MAC)]
    """Of the guest's end."""

    @property
    def subject(self) -> str:
        return f"{self.netdev} to {self.inside} in {self.namespace}"

    def read(self) -> Command:
        return Command(argv=("ip", "-j", "-d", "link", "show", "dev", self.netdev))

    @property
    def mark(self) -> str:
        return words(key("info_kind"))

    def parse(self, section: Section) -> Observed[State]:
        """Give whether it is there; its far end is wherever it was put."""
        source = self.read().line()
        if section.returncode == 1 and NOT_THERE in section.errors:
            return Known({"is_there": False}, source)
        found = objects_of(section.text(source))
        if not isinstance(found, Known):
            return Unreadable(found.reason, source)
        if len(found.value) != 1 or found.value[0].get("ifname") != self.netdev:
            return Unreadable("it did not print one netdev", source)
        link = found.value[0]
        if object_in(link, "linkinfo").get("info_kind") != "veth":
            return Unreadable(f"there is another {self.netdev} already: it is not a veth", source)
        if "link_netnsid" not in link:
            return Unreadable(f"there is another {self.netdev} already: of this host only", source)
        return Known({"is_there": True}, source)

    def made(self) -> State:
        """Give what a namespace has that was just made."""
        return {"is_there": False}

    def wanted(self, before: State) -> State:
        return {"is_there": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Make the pair, its far end in the namespace from the start; or remove it."""
        if not to["is_there"]:
            return (Command(argv=("ip", "link", "del", "dev", self.netdev)),)
        return (
            Command(
                argv=(
                    *("ip", "link", "add", "dev", self.netdev, "type", "veth"),
                    *("peer", "name", self.inside, "address", self.mac),
                    *("netns", self.namespace),
                )
            ),
        )
