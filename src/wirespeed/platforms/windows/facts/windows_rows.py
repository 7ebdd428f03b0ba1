"""Rows that the Windows collector prints as JSON: a list of objects, typed one value at a time."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wirespeed.model.capture import Capture
from wirespeed.model.json_value import read_json
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

GUID = re.compile(r"\{?([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})\}?")
MAX_ROWS = 20_000
MAX_NUMBER = 1 << 63
"""Windows says *not known* by all bits set."""


@dataclass(frozen=True, slots=True)
class Row:
    """One object; each value by its property's name, with the command that shows it again."""

    values: dict[str, Any]
    source: str

    def text(self, name: str) -> Observed[str]:
        """Give a text; Absent where the property is null or empty."""
        value = self.values.get(name)
        if value is None or value == "":
            return self._nothing(name)
        if not isinstance(value, str):
            return Unreadable(f"{name} is {str(value)[:40]!r}", self.source)
        return Known(value, self.source)

    def number(self, name: str) -> Observed[int]:
        """Give a whole number; Absent where it is null or stands for *not known*."""
        value = self.values.get(name)
        if value is None:
            return self._nothing(name)
        if isinstance(value, float) and math.isfinite(value) and value.is_integer():
            value = int(value)
        if type(value) is not int or value < 0:
            return Unreadable(f"{name} is {str(value)[:40]!r}", self.source)
        return Known(value, self.source) if value < MAX_NUMBER else Absent(self.source, "not told")

    def truth(self, name: str) -> Observed[bool]:
        """Give a truth value."""
        value = self.values.get(name)
        if value is None:
            return self._nothing(name)
        if not isinstance(value, bool):
            return Unreadable(f"{name} is {str(value)[:40]!r}", self.source)
        return Known(value, self.source)

    def texts(self, name: str) -> tuple[str, ...]:
        """Give a list of texts; one that stands alone is a list of one, null is none."""
        value = _unwrapped(self.values.get(name))
        items = value if isinstance(value, list) else [value]
        return tuple(str(item) for item in items if isinstance(item, str | int) and item != "")

    @property
    def guid(self) -> str:
        """GUID of the adapter, in lower case and without braces; empty where there is none."""
        return plain_guid(self.values.get("Guid"))

    def _nothing(self, name: str) -> Absent | Unreadable:
        if name in self.values:
            return Absent(self.source)
        return Unreadable(f"it has no property {name}", self.source)


def plain_guid(value: object) -> str:
    """Give a GUID in lower case and without braces; empty where it is none."""
    match = GUID.fullmatch(value) if isinstance(value, str) else None
    return match[1].lower() if match else ""


def rows_of(capture: Capture, section: str, source: str) -> Observed[tuple[Row, ...]]:
    """Give the rows of a section; `source` is the command that a person types."""
    text = capture.text(section, source)
    if not isinstance(text, Known):
        return text
    try:
        found = _unwrapped(read_json(text.value))
    except (ValueError, RecursionError) as error:
        return Unreadable(f"it is not JSON: {str(error)[:80]}", source)
    if not isinstance(found, list):
        return Unreadable("it is not a list of objects", source)
    return Known(tuple(_rows(found[:MAX_ROWS], source)), source)


def _unwrapped(value: object) -> Any:
    """Give a list that Windows PowerShell 5.1 wrote as an object: {"value": […], "Count": 2}."""
    if isinstance(value, dict) and value.keys() == {"value", "Count"}:
        return value["value"]
    return value


def _rows(found: list[Any], source: str) -> Iterator[Row]:
    for item in found:
        if isinstance(item, dict):
            yield Row(item, source)


def by_guid(rows: Observed[tuple[Row, ...]]) -> dict[str, Row]:
    """Give the row of each adapter; the first one stands."""
    found: dict[str, Row] = {}
    for row in rows.value if isinstance(rows, Known) else ():
        if row.guid:
            found.setdefault(row.guid, row)
    return found
