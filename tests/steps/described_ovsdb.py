"""A described Open vSwitch: rows of its database, and the words of ovs-vsctl that change them."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from proof import Answer, UnknownCommandError

from wirespeed.model.command import Command

RESTARTS = (
    ("systemctl", "restart", "openvswitch-switch.service"),
    ("/usr/share/openvswitch/scripts/ovs-ctl", "restart", "--no-monitor"),
)
ASSIGNMENT = re.compile(r'([a-z_]+)(?::([A-Za-z0-9_-]+))?=(?:"([^"\\]*)"|([A-Za-z0-9_.-]+))')
INTEGERS = ("mtu_request", "tag")


@dataclass
class Row:
    """Columns that are set."""

    columns: dict[str, Any] = field(default_factory=dict)

    def set(self, words: list[str]) -> None:
        for word in words:
            match = ASSIGNMENT.fullmatch(word)
            if match is None:
                raise UnknownCommandError(word)
            column, key, quoted, bare = match.groups()
            value = bare if quoted is None else quoted
            if key is not None:
                self.columns.setdefault(column, {})[key] = value
            else:
                self.columns[column] = int(value) if column in INTEGERS else value


@dataclass
class DescribedOvs:
    """Understands `list`, `set`, `add-br`, `del-br`, `add-port`, `del-port` and a restart."""

    other_config: dict[str, str] = field(default_factory=dict)
    external_ids: dict[str, str] = field(default_factory=lambda: {"rundir": "/var/run/openvswitch"})
    bridges: dict[str, Row] = field(default_factory=dict)
    ports: dict[str, tuple[str, Row, Row]] = field(default_factory=dict)
    """Bridge, the port's row and its interface's."""
    runs_with: dict[str, str] = field(default_factory=dict)
    """Settings as they stood when the daemon was last started."""
    dpdk_initialized: bool = False
    can_start_dpdk: bool = True
    """Its build has DPDK, and there are hugepages."""

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        if command.argv in RESTARTS:
            self.runs_with = dict(self.other_config)
            # set_system_ids() of ovs-ctl
            self.external_ids["rundir"] = "/var/run/openvswitch"
            is_wanted = self.other_config.get("dpdk-init") == "true"
            self.dpdk_initialized = is_wanted and self.can_start_dpdk
            return Answer()
        program, timeout, *words = command.argv
        if (program, timeout) != ("ovs-vsctl", "--timeout=10"):
            raise UnknownCommandError(command.line())
        parts = [part.split("\0") for part in "\0".join(words).split("\0--\0")]
        if words[0] == "--format=json":
            rest = parts[0][1:]
            parts = ([rest] if rest and rest != ["--"] else []) + parts[1:]
            return Answer("".join(self._list(part) for part in parts))
        for part in parts:
            if refusal := self._do(part):
                return Answer("", f"ovs-vsctl: {refusal}\n", 1)
        return Answer()

    def _do(self, words: list[str]) -> str:
        match words:
            case ("--no-wait", *rest):
                return self._do(rest)
            case ("set", "Open_vSwitch", ".", "dpdk_initialized=false"):
                self.dpdk_initialized = False
            case ("set", "Open_vSwitch", ".", word):
                row = {"other_config": self.other_config, "external_ids": self.external_ids}
                Row(row).set([word])
            case ("remove", "Open_vSwitch", ".", "other_config", key):
                self.other_config.pop(key, None)
            case ("remove", "Open_vSwitch", ".", "external_ids", key):
                self.external_ids.pop(key, None)
            case ("--may-exist", "add-br", name):
                if name in self.ports:
                    return f"cannot create a bridge named {name} because a port has that name"
                self.bridges.setdefault(name, Row())
            case ("--if-exists", "del-br", name):
                self.bridges.pop(name, None)
                self.ports = {p: row for p, row in self.ports.items() if row[0] != name}
            case ("--may-exist", "add-port", bridge, name):
                if bridge not in self.bridges:
                    return f"no bridge named {bridge}"
                if name in self.ports and self.ports[name][0] != bridge:
                    return f'"{name}" is on another bridge'
                self.ports.setdefault(name, (bridge, Row(), Row()))
            case ("--if-exists", "del-port", bridge, name):
                if name in self.ports and self.ports[name][0] != bridge:
                    return f"bridge {bridge} does not have a port {name}"
                self.ports.pop(name, None)
            case ("set", "Bridge", name, *rest) if name in self.bridges:
                self.bridges[name].set(rest)
            case ("set", "Port", name, *rest) if name in self.ports:
                self.ports[name][1].set(rest)
            case ("set", "Interface", name, *rest) if name in self.ports:
                self.ports[name][2].set(rest)
            case _:
                raise UnknownCommandError(" ".join(words))
        return ""

    def _list(self, words: list[str]) -> str:
        if words[0] == "--if-exists":
            words = words[1:]
        option, verb, table, *names = words
        if verb != "list" or not option.startswith("--columns="):
            raise UnknownCommandError(" ".join(words))
        columns = option.removeprefix("--columns=").split(",")
        rows = self._rows(table)
        wanted = [row for name, row in rows.items() if not names or name in names]
        data = [[_cell(row.get(column)) for column in columns] for row in wanted]
        return json.dumps({"data": data, "headings": columns}) + "\n"

    def _rows(self, table: str) -> dict[str, dict[str, Any]]:
        match table:
            case "Open_vSwitch":
                maps = {"other_config": self.other_config, "external_ids": self.external_ids}
                return {".": {**maps, "dpdk_initialized": self.dpdk_initialized}}
            case "Bridge":
                own = {name: [_uuid(name), *self._ports_of(name)] for name in self.bridges}
                return {
                    name: {"name": name, "external_ids": {}, **row.columns, "ports": own[name]}
                    for name, row in self.bridges.items()
                }
            case "Port":
                return {
                    name: {"name": name, "_uuid": _uuid(name), "external_ids": {}, **port.columns}
                    for name, (_, port, _) in self.ports.items()
                }
            case "Interface":
                unset: dict[str, Any] = {"external_ids": {}, "options": {}, "type": ""}
                return {
                    name: {"name": name, **unset, **interface.columns}
                    for name, (_, _, interface) in self.ports.items()
                }
        raise UnknownCommandError(table)

    def _ports_of(self, bridge: str) -> list[tuple[str, str]]:
        return [_uuid(name) for name, (at, _, _) in self.ports.items() if at == bridge]


def _uuid(name: str) -> tuple[str, str]:
    return ("uuid", f"00000000-0000-0000-0000-{name.encode().hex()[:12]:>012}")


def _cell(value: object) -> object:
    """RFC 7047, 5.1: a set of one is written as its element."""
    if value is None:
        return ["set", []]
    if isinstance(value, dict):
        return ["map", [[key, value[key]] for key in sorted(value)]]
    if isinstance(value, list):
        return value[0] if len(value) == 1 else ["set", value]
    return value
