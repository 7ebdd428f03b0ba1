"""The name of a VF's representor, which is found by the port that the kernel says it is."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.facts.json_text import JsonObject, json_of, object_in
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.names import NETDEV, Netdev, PciAddress
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.marks import key, lines, literal, words
from wirespeed.steps.netdev_name import named_back

BY_PORT = (
    'ip link set dev "$(devlink port show | '
    'sed -En "s,^pci/$0/.* netdev ([^ ]+) flavour pcivf .*vfnum $1( .*)?$,\\1,p")" name "$2"'
)
"""For one that is not there yet when the plan is made."""
PORTS = r"""sed -E 's#"pci/#\n"pci/#g'"""
"""Puts each port of devlink on a line of its own."""


class RepresentorName(Step):
    """The representor of this VF of this PF is called so.

    It is the devlink port of the PF with flavour `pcivf` and the VF's number (Linux,
    devlink-port.rst): names of netdevs say nothing, as every driver and udev have their own. A VF
    that another host of the same card has (`external`) is none of ours. Linux before 6.2 names no
    netdev that is up: it is set down and stays so. Undo gives the former name.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    settle_s: ClassVar[float] = 10
    makes: ClassVar[bool] = True
    purpose: ClassVar[str] = (
        "The switch's side of a VF, by a name that says which guest is behind it."
    )
    step: Literal["representor_name"] = "representor_name"
    pci_address: PciAddress
    """Of the PF."""
    vf: Annotated[int, Field(ge=0, le=65534)]
    netdev: Netdev

    @property
    def subject(self) -> str:
        return f"VF {self.vf} of {self.pci_address} as {self.netdev}"

    def read(self) -> Command:
        return Command(argv=("devlink", "-j", "port", "show"))

    @property
    def mark(self) -> str:
        mine = lines(rf'^"pci/{literal(self.pci_address)}/.*"vfnum":{self.vf}[,}}]')
        return f"{PORTS} | {mine} | {words(key('netdev'))}"

    def parse(self, section: Section) -> Observed[State]:
        """Give its name; unreadable while there is none."""
        source = self.read().line()
        found = json_of(section.text(source))
        if not isinstance(found, Known):
            return Unreadable(found.reason, source)
        ports = object_in(found.value, "port") if isinstance(found.value, dict) else {}
        mine = [port for handle in ports if self._is_mine(handle, port := object_in(ports, handle))]
        if len(mine) != 1:
            what = f"{len(mine) or 'no'} representors of VF {self.vf} of {self.pci_address}"
            return Unreadable(f"devlink lists {what}", source)
        name = mine[0].get("netdev")
        if not isinstance(name, str) or not NETDEV.fullmatch(name):
            return Unreadable(f"its netdev is {str(name)[:40]!r}", source)
        return Known({"netdev": name}, source)

    def _is_mine(self, handle: str, port: JsonObject) -> bool:
        return (
            handle.startswith(f"pci/{self.pci_address}/")
            and port.get("flavour") == "pcivf"
            and port.get("vfnum") == self.vf
            and port.get("external", False) is False
        )

    def made(self) -> State:
        """Give what it has when its VF is made: a name that udev gives."""
        return {"netdev": None}

    def wanted(self, before: State) -> State:
        return {"netdev": self.netdev}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        name, new = now["netdev"], to["netdev"]
        if now == to or new is None:
            return ()
        if name is None:
            words = (self.pci_address, str(self.vf), str(new))
            return (Command(argv=("sh", "-c", BY_PORT, *words)),)
        start = ("ip", "link", "set", "dev", str(name))
        named = Command(argv=(*start, "name", str(new)))
        if new != self.netdev:
            named = named_back(str(name), str(new))
        return (Command(argv=(*start, "down")), named)
