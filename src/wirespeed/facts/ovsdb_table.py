"""Tables of Open vSwitch's database, as `ovs-vsctl --format=json` prints them: one a line."""

from typing import Any

from wirespeed.facts.json_text import json_of
from wirespeed.model.observed import Known, Observed, Unreadable

Row = dict[str, Any]


def tables_of(text: str, source: str) -> Observed[list[list[Row]]]:
    """Give the rows of each table, in the order of the lines; Unreadable if one makes no sense."""
    found: list[list[Row]] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        table = json_of(Known(line, source))
        if not isinstance(table, Known) or not isinstance(table.value, dict):
            reason = table.reason if isinstance(table, Unreadable) else "it is not a table"
            return Unreadable(reason, source)
        found.append(rows_of(table.value))
    return Known(found, source)


def rows_of(table: dict[str, Any]) -> list[Row]:
    """Give the rows of one table by their columns' names."""
    headings, data = table.get("headings"), table.get("data")
    if not isinstance(headings, list) or not isinstance(data, list):
        return []
    return [
        {str(name): _value(cell) for name, cell in zip(headings, row, strict=False)}
        for row in data
        if isinstance(row, list)
    ]


def strings(cell: object) -> list[str]:
    """Give a set as a list; one value is no list there."""
    return [str(item) for item in (cell if isinstance(cell, list) else [cell])]


def mapping(cell: object) -> dict[str, str]:
    """Give a map; empty where it is none."""
    return cell if isinstance(cell, dict) else {}


def _value(cell: object) -> object:
    """Undo RFC 7047 section 5.1: ["set", […]], ["map", […]], ["uuid", "…"]; one is no list."""
    if not (isinstance(cell, list) and len(cell) == 2 and isinstance(cell[0], str)):
        return cell
    kind, content = cell
    if kind == "set" and isinstance(content, list):
        return [_value(item) for item in content]
    if kind == "map" and isinstance(content, list):
        return {str(k): str(v) for k, v in (pair for pair in content if _is_pair(pair))}
    return content


def _is_pair(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2
