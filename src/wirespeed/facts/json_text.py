"""JSON that a tool printed, and fields of it that may be missing or of another type."""

from typing import Any, TypeVar

from wirespeed.model.json_value import read_json
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

T = TypeVar("T", str, int, bool)
JsonObject = dict[str, Any]


def json_of(text: Observed[str]) -> Observed[Any]:
    """Decode what a command printed; nothing at all is an empty list, as `ip -j` prints it."""
    if not isinstance(text, Known):
        return text
    if not text.value.strip():
        return Known([], text.source)
    try:
        return Known(read_json(text.value), text.source)
    except (ValueError, RecursionError) as error:
        return Unreadable(f"it is not JSON: {str(error)[:80]}", text.source)


def objects_of(text: Observed[str]) -> Observed[list[JsonObject]]:
    """Decode a list of objects; what is none in it is left out (`ip` prints empty ones)."""
    decoded = json_of(text)
    if not isinstance(decoded, Known):
        return decoded
    if not isinstance(decoded.value, list):
        return Unreadable("it is not a list of objects", decoded.source)
    return Known([o for o in decoded.value if isinstance(o, dict) and o], decoded.source)


def object_in(parent: JsonObject, name: str) -> JsonObject:
    """Give an object within an object, empty where there is none."""
    found = parent.get(name)
    return found if isinstance(found, dict) else {}


def objects_in(parent: JsonObject, name: str) -> list[JsonObject]:
    """Give the objects of a list within an object, none where there is no such list."""
    found = parent.get(name)
    return [o for o in found if isinstance(o, dict)] if isinstance(found, list) else []


def field(parent: JsonObject, name: str, kind: type[T], source: str) -> Observed[T]:
    """Give one field. `true` is no number here, though it is one to Python."""
    if name not in parent:
        return Absent(source, f"no {name} there")
    found = parent[name]
    if type(found) is not kind:
        return Unreadable(f"{name} is {str(found)[:40]!r}", source)
    return Known(found, source)
