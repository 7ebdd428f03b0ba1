"""Open vSwitch: bridges, ports, what is asked of it, and what its daemon says is so."""

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from wirespeed.facts.json_text import json_of
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ovsdb_table import Row, mapping, rows_of, strings
from wirespeed.model.capture import NOT_FOUND_RETURNCODE, Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, known

SHOW = "ovs-vsctl list Open_vSwitch"
UPCALL = "ovs-appctl upcall/show"
CAPABILITIES = "grep CapEff /proc/$(cat /run/openvswitch/ovs-vswitchd.pid)/status"
RAW_IO = re.compile(r"CAP_SYS_RAWIO ([01])\n?")
STAMP = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]{8,12}Z\|\d{5}\|")
NO_DAEMON = re.compile(
    r"cannot (?:read pidfile|connect to) \S+ \((?:No such process|Connection refused)\)"
)
"""Words of ovs-appctl where it has died. (Without a pidfile, it may run elsewhere.)"""
RELEASE = re.compile(r"(\d{1,4})\.(\d{1,4})")
DPDK_RELEASE = re.compile(r"DPDK (\d\d)\.(\d\d)\b")
BUILT_WITH = {(2, 13): (19, 11), (2, 14): (19, 11), (2, 15): (20, 11), (2, 16): (20, 11)}
"""DPDK that a build of Open vSwitch with it needs (Documentation/faq/releases.rst); later ones need
21.11 or newer."""
ELSEWHERE = "stale pidfile"
"""Beside the same words where it runs in a container, with process ids of its own."""


@dataclass(frozen=True, slots=True)
class OvsInterface:
    """A row of the table Interface."""

    name: str
    kind: str
    """`system` (also written as nothing), `internal`, `dpdk`, `vxlan`, `dpdkvhostuserclient`, …"""
    options: dict[str, str]
    mtu: Observed[int]
    mtu_request: Observed[int]
    error: Observed[str]
    """Why it could not be made; Absent: it could."""
    link_state: Observed[str]

    @property
    def is_vhost_user(self) -> bool:
        """A guest shares its memory with the switch: `dpdkvhostuser`, `dpdkvhostuserclient`."""
        return self.kind.startswith("dpdkvhostuser")

    @property
    def is_dpdk_representor(self) -> bool:
        """A VF representor that DPDK drives."""
        return "representor=" in self.options.get("dpdk-devargs", "")


@dataclass(frozen=True, slots=True)
class OvsPort:
    """A row of the table Port."""

    name: str
    interfaces: tuple[str, ...]
    """More than one: a bond."""
    bond_mode: Observed[str]
    vlan: Observed[int]


@dataclass(frozen=True, slots=True)
class OvsBridge:
    """A row of the table Bridge."""

    name: str
    datapath_type: str
    """`netdev` is the userspace datapath; nothing and `system` are the kernel's."""
    ports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ovs(Fact):
    """The whole switch."""

    other_config: Observed[dict[str, str]]
    """Absent: Open vSwitch is not installed or does not run. Unreadable: it does not answer."""
    dpdk_initialized: Observed[bool]
    """Absent before 2.10."""
    dpdk_version: Observed[str]
    """`DPDK 22.11.3`; `none`: a build without. Absent before 2.10."""
    version: Observed[str]
    has_daemon: Observed[bool]
    """Whether ovs-vswitchd answers: the database of one that died answers all the same."""
    has_raw_io: Observed[bool]
    """Whether ovs-vswitchd has CAP_SYS_RAWIO: one that is not root gives it up, unless it is told
    to keep it. Absent: it has no pidfile where one is looked for."""
    bridges: dict[str, OvsBridge]
    ports: dict[str, OvsPort]
    interfaces: dict[str, OvsInterface]
    datapath_flows: Observed[int]
    """Flows that the daemon keeps in the datapath, of all datapaths."""
    offloaded_flows: Observed[int]
    """Of them in hardware; Absent: the running daemon offloads nothing for any of its ports (it
    was not told to, no port can), or is too old to say."""

    # One call for four tables. Of the table Interface, only what is needed: it has counters too.
    script: ClassVar[str] = """\
run ovs-db - ovs-vsctl --timeout=2 --format=json -- list Open_vSwitch -- list Bridge -- \\
	--columns=_uuid,name,interfaces,bond_mode,tag list Port -- \\
	--columns=_uuid,name,type,options,mtu,mtu_request,error,link_state list Interface
if command -v ovs-appctl >/dev/null 2>&1; then
	run ovs-upcall - ovs-appctl --timeout=2 upcall/show
fi
# Bit 17, 131072 (linux/capability.h), of a process that is the daemon.
ovs_raw_io() (
	read -r pid </run/openvswitch/ovs-vswitchd.pid || exit 1
	case $pid in '' | *[!0-9]*) exit 1 ;; esac
	{ read -r name <"/proc/$pid/comm"; } 2>/dev/null || exit 1
	case $name in ovs-vswitchd*) ;; *) exit 1 ;; esac
	bits=$(sed -n 's/^CapEff:.*\\([0-9a-f]\\{5\\}\\)$/\\1/p' "/proc/$pid/status" 2>/dev/null)
	[ -n "$bits" ] && printf 'CAP_SYS_RAWIO %d\\n' "$((0x$bits / 131072 % 2))"
)
[ ! -e /run/openvswitch/ovs-vswitchd.pid ] || show ovs-raw-io - ovs_raw_io
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the tables of the database, a line of JSON each, and `upcall/show`."""
        text = _database(capture)
        tables: dict[str, list[Row]] = {}
        problem: Unreadable | None = None
        for line in text.value.splitlines() if isinstance(text, Known) else ():
            table = json_of(Known(line, text.source)) if line.strip() else Known({}, text.source)
            if isinstance(table, Unreadable):
                problem = table
            elif isinstance(table, Known) and isinstance(table.value, dict):
                rows = rows_of(table.value)
                for row in rows[:1]:
                    tables[_name_of_table(row)] = rows
        names = {
            str(row.get("_uuid")): str(row.get("name"))
            for table in ("Port", "Interface")
            for row in tables.get(table, ())
        }
        switch = next(iter(tables.get("Open_vSwitch", ())), {})
        flows, offloaded = _flows(capture)
        return cls(
            other_config=_config(text, problem, switch),
            dpdk_initialized=(
                _cell(switch, "dpdk_initialized", bool) if isinstance(text, Known) else text
            ),
            dpdk_version=_cell(switch, "dpdk_version", str) if isinstance(text, Known) else text,
            version=_cell(switch, "ovs_version", str) if isinstance(text, Known) else text,
            has_daemon=_daemon(capture),
            has_raw_io=_raw_io(capture),
            bridges=_bridges(tables.get("Bridge", []), names),
            ports=_ports(tables.get("Port", []), names),
            interfaces=_interfaces(tables.get("Interface", [])),
            datapath_flows=flows,
            offloaded_flows=offloaded,
        )

    def bridge_of(self, interface: str) -> OvsBridge | None:
        """Give the bridge that an interface is in; None where it is in none."""
        ports = {port.name for port in self.ports.values() if interface in port.interfaces}
        return next((b for b in self.bridges.values() if ports & set(b.ports)), None)

    @property
    def release(self) -> tuple[int, int] | None:
        """Major and minor number of its version: (3, 1); None: not known."""
        found = RELEASE.match(self.version.value) if isinstance(self.version, Known) else None
        return (int(found[1]), int(found[2])) if found else None

    @property
    def dpdk_release(self) -> tuple[int, int] | None:
        """Year and month of its DPDK, (22, 11); None: not known, or newer than 20.11.

        Of a build without, that of the build with DPDK that comes with it.
        """
        said = self.dpdk_version
        found = DPDK_RELEASE.search(said.value) if isinstance(said, Known) else None
        if found:
            return (int(found[1]), int(found[2]))
        return BUILT_WITH.get(self.release) if self.release else None

    def is_in_kernel(self, interface: OvsInterface) -> bool:
        """Tell whether it is in a bridge of the kernel's datapath."""
        bridge = self.bridge_of(interface.name)
        return bridge is not None and bridge.datapath_type in ("", "system")

    def setting(self, key: str) -> str:
        """Give a word of `other_config`, empty where it is not set; raises CannotTellError.

        In small letters, as Open vSwitch compares it (lib/smap.c, smap_get_bool: `True` is true).
        """
        return known(self.other_config, "Open vSwitch's settings").get(key, "").lower()

    @property
    def is_offload_asked(self) -> bool:
        """`hw-offload` as the database has it; raises CannotTellError where it does not answer."""
        return self.setting("hw-offload") == "true"

    def representors(self, stack: NetStack) -> tuple[OvsInterface, ...]:
        """VF representors among the interfaces, driven by the kernel or by DPDK."""
        links = stack.links.value if isinstance(stack.links, Known) else {}
        return tuple(
            one
            for one in self.interfaces.values()
            if one.is_dpdk_representor or (one.name in links and links[one.name].is_vf_representor)
        )

    def interfaces_in(self, bridge: OvsBridge) -> tuple[OvsInterface, ...]:
        """Give the interfaces of a bridge, its own internal one too."""
        names = [n for p in bridge.ports if p in self.ports for n in self.ports[p].interfaces]
        return tuple(self.interfaces[name] for name in names if name in self.interfaces)


def _database(capture: Capture) -> Observed[str]:
    section = capture.section("ovs-db")
    if section is None:
        return capture.text("ovs-db", SHOW)
    is_missing = section.returncode == NOT_FOUND_RETURNCODE
    if not is_missing and "connection failed (No such file" not in section.errors:
        return section.text(SHOW)
    links = capture.section("ip-link")
    if links is not None and re.search(r'"(openvswitch|ovs-netdev)"', links.output):
        return Unreadable("a switch runs, but not where it is looked for: in a container?", SHOW)
    return Absent(SHOW, f"Open vSwitch {'is not installed' if is_missing else 'does not run'}")


def _config(
    text: Observed[str], problem: Unreadable | None, switch: Row
) -> Observed[dict[str, str]]:
    if not isinstance(text, Known):
        return text
    if problem is not None or not switch:
        return problem or Unreadable("it printed no row of Open_vSwitch", SHOW)
    return Known(mapping(switch.get("other_config")), "ovs-vsctl get Open_vSwitch . other_config")


def _name_of_table(row: Row) -> str:
    marks = {"ovs_version": "Open_vSwitch", "datapath_type": "Bridge", "interfaces": "Port"}
    return next((table for column, table in marks.items() if column in row), "Interface")


def _cell(row: Row, name: str, kind: type[Any]) -> Observed[Any]:
    cell = row.get(name)
    source = SHOW if "ovs_version" in row or not row else f"ovs-vsctl find Interface {name}!=[]"
    if cell is None or cell == []:
        return Absent(source, f"{name} is not set")
    return Known(cell, source) if type(cell) is kind else Unreadable(f"{name} is odd", source)


def _bridges(rows: list[Row], names: dict[str, str]) -> dict[str, OvsBridge]:
    return {
        str(row.get("name")): OvsBridge(
            name=str(row.get("name")),
            datapath_type=str(row.get("datapath_type") or ""),
            ports=tuple(names[uuid] for uuid in strings(row.get("ports")) if uuid in names),
        )
        for row in rows
    }


def _ports(rows: list[Row], names: dict[str, str]) -> dict[str, OvsPort]:
    return {
        str(row.get("name")): OvsPort(
            name=str(row.get("name")),
            interfaces=tuple(
                names[uuid] for uuid in strings(row.get("interfaces")) if uuid in names
            ),
            bond_mode=_cell(row, "bond_mode", str),
            vlan=_cell(row, "tag", int),
        )
        for row in rows
    }


def _interfaces(rows: list[Row]) -> dict[str, OvsInterface]:
    return {
        str(row.get("name")): OvsInterface(
            name=str(row.get("name")),
            kind=str(row.get("type") or "system"),
            options=mapping(row.get("options")),
            mtu=_cell(row, "mtu", int),
            mtu_request=_cell(row, "mtu_request", int),
            error=_cell(row, "error", str),
            link_state=_cell(row, "link_state", str),
        )
        for row in rows
    }


def _daemon(capture: Capture) -> Observed[bool]:
    section = capture.section("ovs-upcall")
    errors = "" if section is None else section.errors
    if NO_DAEMON.search(errors) and ELSEWHERE not in errors:
        return Known(False, UPCALL)
    text = _without_stamp(capture.text("ovs-upcall", UPCALL))
    return Known(True, UPCALL) if isinstance(text, Known) else text


def _without_stamp(text: Observed[str]) -> Observed[str]:
    """Leave out the time of a line of its log: it would be a difference between two readings."""
    if isinstance(text, Unreadable):
        return Unreadable(STAMP.sub("", text.reason), text.source)
    return text


def _raw_io(capture: Capture) -> Observed[bool]:
    if capture.section("ovs-raw-io") is None:
        return Absent(CAPABILITIES, "its pidfile is not there, or was not asked for")
    text = capture.text("ovs-raw-io", CAPABILITIES)
    if not isinstance(text, Known):
        return text
    found = RAW_IO.fullmatch(text.value)
    return Known(found[1] == "1", CAPABILITIES) if found else Unreadable("it is odd", CAPABILITIES)


def _flows(capture: Capture) -> tuple[Observed[int], Observed[int]]:
    text = _without_stamp(capture.text("ovs-upcall", UPCALL))
    if not isinstance(text, Known):
        return text, text
    flows = re.findall(r"^[ \t]*flows[ \t]*: \(current (\d{1,12})\)", text.value, re.M)
    offloaded = re.findall(r"^[ \t]*offloaded flows[ \t]*: (\d{1,12})[ \t]*$", text.value, re.M)
    if not flows:
        return (Unreadable("it lists no datapath", UPCALL),) * 2
    return (
        Known(sum(map(int, flows)), UPCALL),
        Known(sum(map(int, offloaded)), UPCALL)
        if offloaded
        else Absent(UPCALL, "it has no line `offloaded flows`"),
    )
