"""A text with every character that steers a terminal or hides, and how it is planted in records."""

import dataclasses
import re
import types
import typing
from pathlib import Path
from typing import Any, Literal, get_origin

from pydantic import BaseModel

STEERS = (
    *map(chr, (*range(1, 9), *range(11, 32), 0x7F, *range(0x80, 0xA0), 0x61C, 0xAD)),
    *map(chr, (*range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF)),
    *map(chr, (0xFFF9, 0xFFFA, 0xFFFB, 0xE0001, 0xE0041, 0xE007F)),
)
"""C0 but line ends and tabs, DEL, C1, marks of direction, of no width, ends of lines and tags."""
WORD = "Pwned"
PLANT = f"{WORD}\x1b[31m\x1b]0;x\x07{''.join(STEERS)}"
KEPT = {"at", "started_at", "finished_at", "kind", "hosts", "spec", "step", "host"}
"""Fields that have a form, or that others name."""


def assert_harmless(data: bytes | str, where: str, *, planted: bool = True) -> None:
    """None of what steers is in it; the plant is, so that the channel was really fed."""
    text = data.decode() if isinstance(data, bytes) else data
    left = sorted({f"U+{ord(c):04X}" for c in set(text) & set(STEERS)})
    assert not left, f"{where} lets through {left}"
    if planted:
        assert WORD in text, f"{where}: nothing of the plant came here: {text[:2000]}"


def plant(value: Any, text: str = PLANT) -> Any:
    """Put `text` behind every text of a record, but where only some words are allowed."""
    if type(value) is str:
        return value and value + text
    if isinstance(value, tuple):
        return tuple(plant(one, text) for one in value)
    if isinstance(value, list):
        return [plant(one, text) for one in value]
    if isinstance(value, dict):
        return {key: plant(one, text) for key, one in value.items()}
    if isinstance(value, BaseModel):
        changed = {
            name: plant(getattr(value, name), text)
            for name, field in type(value).model_fields.items()
            if name not in KEPT and not _is_literal(field.annotation)
        }
        return value.model_copy(update=changed)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(
            value,
            **{f.name: plant(getattr(value, f.name), text) for f in dataclasses.fields(value)},
        )
    return value


def _is_literal(annotation: object) -> bool:
    if get_origin(annotation) in (typing.Union, types.UnionType):
        return any(map(_is_literal, typing.get_args(annotation)))
    return get_origin(annotation) is Literal


def harmful_capture() -> str:
    """A capture of a host that refuses all but its list of ports, in such words."""
    case = Path(__file__).parents[1] / "rules/cases/queues.rings_below_maximum"
    text = min(case.glob("present*")).joinpath("capture.txt").read_text()
    said = rf"\1\n\ncase errors\npermission denied {PLANT}\ncase end 1"
    return re.sub(r"(?s)(case begin (?!ports)[^\n]+).*?\ncase end 0", said, text)
