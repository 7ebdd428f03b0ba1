"""Tables of `ovs-vsctl --format=json`: what stands in a column tells what may stay of it. Pure."""

import json
from collections.abc import Callable
from typing import Any

from wirespeed.doctor.anonymous_json import is_plain
from wirespeed.model.json_value import read_json

_BY_THE_SYSTEM = (
    "_uuid _version bridges ports interfaces datapath_types db_version dpdk_version iface_types "
    "ovs_version system_type system_version datapath_type type link_state bond_mode error "
    "fail_mode protocols admin_state duplex lacp"
)
BY_THE_SYSTEM = frozenset(_BY_THE_SYSTEM.split())
"""Columns whose text is a word of Open vSwitch or a reference. The text of an error has
names of ports, which are learned."""
IDS = ("external_ids", "external-ids")
_WORDS = (
    "true false none any auto on off system netdev internal patch normal active passive fast "
    "slow group cycles roundrobin skip_sw skip_hw flow key tcp udp ssl kernel user tap"
)
WORDS = frozenset(_WORDS.split())
"""Values of settings."""


def without_free_columns(
    line: str, keeps: Callable[[str, str], bool], name: Callable[[str], str]
) -> str | None:
    """Give a table without what people chose; None: it is no table."""
    if not line.startswith("{"):
        return None
    try:
        table = read_json(line)
        rows = [
            [_cell(heading, cell, keeps, name) for heading, cell in zip(heads, row, strict=True)]
            for heads in [list(map(str, table["headings"]))]
            for row in table["data"]
        ]
    except (KeyError, TypeError, ValueError, IndexError, RecursionError):
        return None
    made = {"data": rows, "headings": table["headings"]}
    return json.dumps(made, separators=(",", ":"), ensure_ascii=False)


def _cell(
    heading: str, cell: Any, keeps: Callable[[str, str], bool], name: Callable[[str], str]
) -> Any:
    if heading in BY_THE_SYSTEM:
        return cell

    def value(one: Any) -> Any:
        if isinstance(one, list):
            return inner(one)
        if not isinstance(one, str):
            return one
        is_kept = one in WORDS or is_plain("", one) or keeps("", one)
        return one if is_kept and heading not in IDS else name(one)

    def inner(one: list[Any]) -> list[Any]:
        kind, held = one
        if kind == "uuid":
            return one
        if kind == "map":
            return [kind, [[key, value(of)] for key, of in held]]
        return [kind, [value(of) for of in held]]

    return value(cell)
