"""A network namespace: the network of a guest that is no virtual machine."""

from typing import ClassVar, Literal

from wirespeed.facts.json_text import objects_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import NamespaceName
from wirespeed.model.observed import CannotTellError, Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.marks import key, words

MARK = "wirespeed"
"""Alias of the `lo` of namespaces of ours: it goes with the namespace, as no file would."""


class Namespace(Step):
    """The namespace is there, and marked as ours.

    One of that name that is not marked is somebody else's: nothing can be planned then. Undo
    deletes it; physical netdevs that are in it yet the kernel gives back to the host.
    """

    scope: ClassVar[Scope] = Scope.GUEST
    makes: ClassVar[bool] = True
    purpose: ClassVar[str] = (
        "A program that runs in it has the netdevs that are moved into it, and no others."
    )
    step: Literal["namespace"] = "namespace"
    namespace: NamespaceName

    @property
    def subject(self) -> str:
        return self.namespace

    def read(self) -> Command:
        return Command(argv=("ip", "-n", self.namespace, "-j", "link", "show", "dev", "lo"))

    @property
    def mark(self) -> str:
        return words(key("ifalias"))

    def parse(self, section: Section) -> Observed[State]:
        source = self.read().line()
        if is_missing(section, self.namespace):
            return Known({"is_there": False, "is_ours": False}, source)
        links = objects_of(section.text(source))
        if not isinstance(links, Known):
            return Unreadable(links.reason, source)
        if [link.get("ifname") for link in links.value] != ["lo"]:
            return Unreadable("its lo is not shown", source)
        is_ours = links.value[0].get("ifalias") == MARK
        return Known({"is_there": True, "is_ours": is_ours}, source)

    def made(self) -> State:
        """Give that it is not there."""
        return {"is_there": False, "is_ours": False}

    def wanted(self, before: State) -> State:
        """Give that it is there and ours. Raises CannotTellError where it is another's."""
        if before["is_there"] and not before["is_ours"]:
            raise CannotTellError(
                f"there is a namespace {self.namespace} already, and its owner is not known; "
                "remove it with `ip netns del` if it is not in use, or name the guest otherwise",
                f"ip netns pids {self.namespace}; ip -n {self.namespace} addr",
            )
        return {"is_there": True, "is_ours": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Make it and mark it, or delete it."""
        if not to["is_there"]:
            return (Command(argv=("ip", "netns", "del", self.namespace)),)
        make = Command(argv=("ip", "netns", "add", self.namespace))
        alias = MARK if to["is_ours"] else ""
        mark = Command(
            argv=("ip", "-n", self.namespace, "link", "set", "dev", "lo", "alias", alias)
        )
        marks = (mark,) if now["is_ours"] != to["is_ours"] else ()
        return marks if now["is_there"] else (make, *marks)


def is_missing(section: Section, namespace: str) -> bool:
    """Tell whether a command failed for want of the namespace: netns_switch() of iproute2."""
    said = f'Cannot open network namespace "{namespace}": No such file or directory'
    return section.returncode not in (0, None) and said in section.errors.split("\n")
