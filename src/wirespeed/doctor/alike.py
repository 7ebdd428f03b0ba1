"""Findings that say the same of several places: functions of a card, ports, members. Pure."""

import re
from collections.abc import Sequence

from wirespeed.model.finding import Finding

ADDRESS = re.compile(r"\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b")
NUMBER = re.compile(r"\d[\d.,]*")


def alike(findings: Sequence[Finding]) -> list[tuple[int, ...]]:
    """Give the places in `findings` of each that is told once, in the order of the first ones.

    They have one rule, one severity, and the same words but for names and numbers.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, finding in enumerate(findings):
        texts = (finding.so, *(remedy.text for remedy in finding.remedies))
        words = (_without_names(text, finding.where) for text in texts)
        key = (finding.rule, finding.severity.value, *words)
        groups.setdefault(key, []).append(number)
    return [tuple(numbers) for numbers in groups.values()]


def _without_names(text: str, where: str) -> str:
    for name in where.split(", "):
        text = text.replace(name, "*")
    return NUMBER.sub("#", ADDRESS.sub("*", text))
