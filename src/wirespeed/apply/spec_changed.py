"""How a spec differs from the one that a run was begun with, field by field. Pure."""

import json
from collections.abc import Iterator
from typing import Any

from wirespeed.model.journal import Begun, Entry
from wirespeed.model.shown import shown
from wirespeed.model.spec.spec import Spec

NOT_THERE = "not there"
MAX_VALUE = 120


def begun_spec(entries: list[Entry]) -> Spec | None:
    """Give the spec that the last stage was made from; None: an older wirespeed kept none."""
    specs = [entry.spec for entry in entries if isinstance(entry, Begun)]
    return specs[-1] if specs else None


def spec_changes(begun: Spec, now: Spec) -> list[str]:
    """Give each field that differs, as `guests.a.vcpus: 8 -> 16`.

    Comments, spaces and the order of keys are no difference; what is left out is as its default.
    """
    return list(_changes("", begun.model_dump(mode="json"), now.model_dump(mode="json")))


def _changes(place: str, old: Any, new: Any) -> Iterator[str]:
    if old == new and isinstance(old, bool) == isinstance(new, bool):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            inner = f"{place}.{key}" if place else str(key)
            if key in old and key in new:
                yield from _changes(inner, old[key], new[key])
            else:
                yield f"{inner}: {_text(old, key)} -> {_text(new, key)}"
        return
    yield f"{place}: {_value(old)} -> {_value(new)}"


def _text(values: dict[str, Any], key: str) -> str:
    return _value(values[key]) if key in values else NOT_THERE


def _value(value: Any) -> str:
    return shown(json.dumps(value, ensure_ascii=False), MAX_VALUE)
