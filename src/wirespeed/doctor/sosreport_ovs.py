"""Open vSwitch of a sosreport: `ovs-vsctl list` as text, made into the JSON of our section. Pure.

Its plugin `openvswitch` lists Open_vSwitch, Bridge and Interface, but not Port: what is in which
bridge is of `ovs-vsctl show`. Text of values: lib/ovsdb-data.c of Open vSwitch,
ovsdb_datum_to_string() and string_needs_quotes().
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from wirespeed.model.json_value import read_json

FOLDER = "sos_commands/openvswitch/"
LISTS = {
    "Open_vSwitch": ("other_config", "dpdk_initialized", "dpdk_version", "ovs_version"),
    "bridge": ("name", "datapath_type"),
    "interface": ("name", "type", "options", "mtu", "mtu_request", "error", "link_state"),
}
"""Table as sos writes it, to the columns that a fact asks for."""
FILES = (
    rf"{FOLDER}(?:ovs-vsctl_(?:-t_5_)?(?:show|list_(?:{'|'.join(LISTS)}))|"
    r"ovs-appctl_(?:upcall\.show|bond\.show|dpif-netdev\.pmd-rxq-show))"
)
"""Version 3.9 of sos lists without `-t 5`."""
ATOM = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,={}\[\]"]+')
CELL = re.compile(r"^(\w+) *: (.*)$")
TREE = re.compile(r' *(Bridge|Port|Interface|tag:) "?([^"\s]+)"?')
MODE = re.compile(r"^---- (\S+) ----\nbond_mode: (\S+)$", re.M)
PLAIN_MODES = ("balance-slb", "balance-tcp")
"""active-backup is also what a bond without bond_mode shows."""
UNKNOWN = ["set", ["unknown", "unknown"]]
"""No value of a column of one word: it cannot be read."""
FAILED = re.compile(r"^ovs-(?:vsctl|appctl): |\|fatal_signal\|", re.M)
"""`ovs-vsctl: unix:…/db.sock: database connection failed (…)`; the other where -t ended it."""
Answer = tuple[str, str, int]
"""Output, errors and return code."""


@dataclass(slots=True)
class _Port:
    name: str
    tag: object = field(default_factory=lambda: ["set", list[object]()])
    interfaces: list[str] = field(default_factory=list)


def ovs_answers(files: Mapping[str, str]) -> Iterator[tuple[str, Answer]]:
    """Give section and answer of what is there; of the database only where all of it is."""
    texts = {name: _file(files, f"ovs-vsctl_{name}") for name in ("show", *map(_list_of, LISTS))}
    said = [text for text in texts.values() if text is not None]
    failed = next((text for text in said if FAILED.search(text)), None)
    if failed is not None:
        yield "ovs-db", ("", failed.strip(), 1)
    elif len(said) == len(texts):
        bonds = dict(MODE.findall(_file(files, "ovs-appctl_bond.show") or ""))
        listed = {name: [*_rows(texts[_list_of(name)] or "")] for name in LISTS}
        yield "ovs-db", ("\n".join(_tables(listed, texts["show"] or "", bonds)), "", 0)
    for section, name in (("ovs-upcall", "upcall.show"),
                          ("ovs-pmd-rxq", "dpif-netdev.pmd-rxq-show")):  # fmt: skip
        text = _file(files, f"ovs-appctl_{name}")
        if text is not None:
            yield section, ("", text.strip(), 2) if FAILED.search(text) else (text, "", 0)


def _list_of(table: str) -> str:
    return f"list_{table}"


def _file(files: Mapping[str, str], name: str) -> str | None:
    tool, _, rest = name.partition("_")
    return files.get(f"{FOLDER}{tool}_-t_5_{rest}", files.get(f"{FOLDER}{name}"))


def _tables(
    listed: Mapping[str, list[dict[str, object]]], show: str, bonds: Mapping[str, str]
) -> Iterator[str]:
    """Give a table a line; a name stands for the id of a row, as both are unique in a table."""
    bridges = _bridges(show)
    for row in listed["bridge"]:
        row["ports"] = ["set", [port.name for port in bridges.get(str(row.get("name")), ())]]
    for row in listed["interface"]:
        row["_uuid"] = row.get("name")
    ports = [
        {
            "_uuid": port.name, "name": port.name, "tag": port.tag,
            "interfaces": ["set", [*port.interfaces]],
            "bond_mode": _mode(bonds.get(port.name, ""), len(port.interfaces)),
        }
        for of in bridges.values()
        for port in of
    ]  # fmt: skip
    for rows in (listed["Open_vSwitch"], listed["bridge"], ports, listed["interface"]):
        if rows:
            headings = sorted({name for row in rows for name in row})
            data = [[row.get(name, ["set", []]) for name in headings] for row in rows]
            yield json.dumps({"headings": headings, "data": data})


def _mode(shown: str, members: int) -> object:
    if members < 2:
        return ["set", []]
    return shown if shown in PLAIN_MODES else UNKNOWN


def _bridges(show: str) -> dict[str, list[_Port]]:
    found: dict[str, list[_Port]] = {}
    ports: list[_Port] = []
    for line in show.splitlines():
        match = TREE.fullmatch(line)
        if match is None:
            continue
        word, name = match.groups()
        if word == "Bridge":
            ports = found.setdefault(name, [])
        elif word == "Port":
            ports.append(_Port(name))
        elif word == "Interface" and ports:
            ports[-1].interfaces.append(name)
        elif word == "tag:" and ports and name.isdecimal():
            ports[-1].tag = int(name)
    return found


def _rows(text: str) -> Iterator[dict[str, object]]:
    """Records, each ended by an empty line."""
    wanted = {column for columns in LISTS.values() for column in columns}
    for record in re.split(r"\n\s*\n", text):
        cells = (match for line in record.splitlines() if (match := CELL.match(line)))
        if row := {m[1]: _value(m[2].strip()) for m in cells if m[1] in wanted}:
            yield row


def _value(text: str) -> object:
    words = [_atom(word) for word in ATOM.findall(text)]
    if text.startswith("["):
        return ["set", words]
    if text.startswith("{"):
        return ["map", [[k, v] for k, v in zip(words[::2], words[1::2], strict=False)]]
    return words[0] if len(words) == 1 else text


def _atom(word: str) -> object:
    try:
        # Numbers, `true` and `false` are as in JSON, and so is what stands in quotes.
        return read_json(word)
    except ValueError:
        return word
