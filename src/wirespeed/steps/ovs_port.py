"""A port of an Open vSwitch bridge of ours, with its one interface."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from wirespeed.facts.ovsdb_table import Row, mapping, strings, tables_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.shown import shown
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.ovs_bridge import MARK, OWNER
from wirespeed.steps.ovs_config import TIMEOUT, as_string

DPDK_TIMEOUT = "--timeout=60"
"""For a port of DPDK: memory for all its packets is found and cleared, a gigabyte and more."""
OPTION = re.compile(r"[a-z][a-z0-9_-]{0,63}")
OPTION_VALUE = re.compile(r"[A-Za-z0-9_.:,=/\[\]-]{1,256}")


class OvsPort(Step):
    """The interface is in the bridge, as this kind, with these options.

    Port or interface of that name in another bridge, or without our mark, is somebody else's: then
    nothing can be planned. A netdev that joins hands its frames to the switch: its own addresses
    are deaf from then on.
    """

    scope: ClassVar[Scope] = Scope.OS
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    makes: ClassVar[bool] = True
    step: Literal["ovs_port"] = "ovs_port"
    bridge: Netdev
    netdev: Netdev
    """Name of the port, of its interface, and of the netdev if there is one."""
    interface_type: Literal["system", "vxlan", "geneve", "dpdk", "dpdkvhostuserclient"]
    options: dict[str, str] = Field(default_factory=dict)
    mtu_request: Annotated[int, Field(ge=68, le=65535)] | None = None
    vlan: Annotated[int, Field(ge=1, le=4094)] | None = None
    """Tag that its frames have in the bridge: an access port."""
    owner: Annotated[str, Field(pattern=OWNER)]

    @field_validator("options")
    @classmethod
    def _are_safe(cls, options: dict[str, str]) -> dict[str, str]:
        for key, value in options.items():
            if not OPTION.fullmatch(key) or not OPTION_VALUE.fullmatch(value):
                raise ValueError(f"{key}={value}: no option of an interface")
        return dict(sorted(options.items()))

    @property
    def subject(self) -> str:
        return f"{self.netdev} in {self.bridge}"

    @property
    def why(self) -> str:
        if self.interface_type in ("vxlan", "geneve"):
            return "Carries the network to another host within UDP."
        return "Joins the port to its network."

    def read(self) -> Command:
        """Print its interface, its port, and which bridges have which ports."""
        return Command(
            argv=(
                *("ovs-vsctl", TIMEOUT, "--format=json", "--", "--if-exists"),
                *(
                    "--columns=name,type,options,mtu_request,external_ids,error",
                    "list",
                    "Interface",
                ),
                *(self.netdev, "--", "--if-exists", "--columns=_uuid,tag,external_ids"),
                *("list", "Port", self.netdev, "--", "--columns=name,ports", "list", "Bridge"),
            )
        )

    def parse(self, section: Section) -> Observed[State]:
        """Give whether it is there as asked for."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        tables = tables_of(text.value, source)
        if not isinstance(tables, Known) or len(tables.value) != 3:
            return Unreadable("it did not print three tables", source)
        interfaces, ports, bridges = tables.value
        if not interfaces and not ports:
            return Known({"is_there": False}, source)
        if len(interfaces) != 1 or len(ports) != 1:
            return Unreadable(f"{self.netdev} is not one port of one interface", source)
        uuid = str(ports[0].get("_uuid"))
        at = [str(b.get("name")) for b in bridges if uuid in strings(b.get("ports"))]
        if other := self._other(interfaces[0], ports[0], at):
            return Unreadable(f"there is another {self.netdev} already: {other}", source)
        if error := interfaces[0].get("error"):
            # ovs-vsctl itself succeeds: the rows are there, and nothing carries frames.
            return Known({"is_there": True, "error": shown(str(error), 200)}, source)
        return Known({"is_there": True}, source)

    def _other(self, interface: Row, port: Row, bridges: list[str]) -> str:
        if bridges != [self.bridge]:
            return f"it is in {', '.join(bridges)[:40] or 'no bridge'}"
        for row in (interface, port):
            owner = mapping(row.get("external_ids")).get(MARK)
            if owner != self.owner:
                return "wirespeed did not make it" if owner is None else f"it is of {owner[:40]!r}"
        for what, found, wanted in (
            ("type", interface.get("type") or "system", self.interface_type),
            ("options", mapping(interface.get("options")), self.options),
            ("mtu_request", _number(interface.get("mtu_request")), self.mtu_request),
            ("tag", _number(port.get("tag")), self.vlan),
        ):
            if found != wanted:
                return f"{what} {str(found)[:60]}"
        return ""

    def made(self) -> State:
        """Give what a bridge has that was just added."""
        return {"is_there": False}

    def wanted(self, before: State) -> State:
        return {"is_there": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Add it with its mark in one transaction, or take it out."""
        is_of_dpdk = self.interface_type.startswith("dpdk")
        start = ("ovs-vsctl", DPDK_TIMEOUT if is_of_dpdk else TIMEOUT)
        if not to["is_there"]:
            gone = (*start, "--if-exists", "del-port", self.bridge, self.netdev)
            return (Command(argv=gone),)
        mark = f"external_ids:{MARK}={self.owner}"
        words = [*start, "--may-exist", "add-port", self.bridge, self.netdev]
        words += ["--", "set", "Interface", self.netdev, f"type={self.interface_type}"]
        words += [f"options:{key}={as_string(value)}" for key, value in self.options.items()]
        if self.mtu_request is not None:
            words.append(f"mtu_request={self.mtu_request}")
        words += [mark, "--", "set", "Port", self.netdev, mark]
        if self.vlan is not None:
            words.append(f"tag={self.vlan}")
        return (Command(argv=tuple(words)),)


def _number(cell: object) -> object:
    """An integer column that is not set is an empty set."""
    return None if cell == [] else cell
