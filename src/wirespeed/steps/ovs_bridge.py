"""A bridge of Open vSwitch that is ours, by the mark in its external_ids."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.facts.ovsdb_table import Row, mapping, tables_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.ovs_config import TIMEOUT

MARK = "wirespeed"
"""Key in `external_ids` of every row that is ours; its value is whose."""
OWNER = r"^[a-z0-9][a-z0-9-]{0,63}$"
COLUMNS = "--columns=name,datapath_type,fail_mode,external_ids"


class OvsBridge(Step):
    """The bridge is there and forwards as a switch does.

    A bridge of that name without our mark is somebody else's: then nothing can be planned. Undo
    removes it with all its ports.
    """

    scope: ClassVar[Scope] = Scope.OS
    makes: ClassVar[bool] = True
    purpose: ClassVar[str] = (
        "Joins the guests' ports of one network, and the tunnels to the other hosts."
    )
    step: Literal["ovs_bridge"] = "ovs_bridge"
    bridge: Netdev
    datapath_type: Literal["system", "netdev"]
    """`system`: the kernel's; `netdev`: in userspace, with DPDK."""
    owner: Annotated[str, Field(pattern=OWNER)]

    @property
    def subject(self) -> str:
        return self.bridge

    def read(self) -> Command:
        return Command(
            argv=(
                *("ovs-vsctl", TIMEOUT, "--format=json", "--if-exists", COLUMNS),
                *("list", "Bridge", self.bridge),
            )
        )

    def parse(self, section: Section) -> Observed[State]:
        """Give whether it is there and of the kind that is wanted."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        tables = tables_of(text.value, source)
        if not isinstance(tables, Known) or len(tables.value) != 1 or len(tables.value[0]) > 1:
            return Unreadable("it printed no table of bridges", source)
        rows = tables.value[0]
        if rows and (other := self._other(rows[0])):
            return Unreadable(f"there is another {self.bridge} already: {other}", source)
        return Known({"is_there": bool(rows)}, source)

    def _other(self, row: Row) -> str:
        owner = mapping(row.get("external_ids")).get(MARK)
        if owner != self.owner:
            return "wirespeed did not make it" if owner is None else f"it is of {owner[:40]!r}"
        # A row that was given no type is of the kernel's datapath.
        datapath = row.get("datapath_type") or "system"
        return "" if datapath == self.datapath_type else f"its datapath is {str(datapath)[:40]!r}"

    def made(self) -> State:
        """Give what Open vSwitch has when it is first started."""
        return {"is_there": False}

    def wanted(self, before: State) -> State:
        return {"is_there": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Add it with its mark in one transaction, or remove it."""
        start = ("ovs-vsctl", TIMEOUT)
        if not to["is_there"]:
            return (Command(argv=(*start, "--if-exists", "del-br", self.bridge)),)
        return (
            Command(
                argv=(
                    *(*start, "--may-exist", "add-br", self.bridge, "--", "set", "Bridge"),
                    *(self.bridge, f"datapath_type={self.datapath_type}", "fail_mode=standalone"),
                    f"external_ids:{MARK}={self.owner}",
                )
            ),
        )
