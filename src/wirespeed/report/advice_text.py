"""Advice for a terminal of 80 columns. Pure."""

from collections.abc import Iterator
from itertools import groupby

from wirespeed.model.advice import Advice, Choice
from wirespeed.report.text_lines import columns_of, pad, wrapped

COLUMNS = 80
_HEAD = 10
_NAME = 46
_GBPS = 18


def advice_lines(advice: Advice) -> Iterator[str]:
    """Give the answer, its choices with their figures, and what it rests on."""
    yield from _said("question", advice.question)
    yield from _said("answer", advice.answer)
    yield ""
    has_cpu = any(choice.cpu_percent for choice in advice.choices)
    yield f"{pad('choice', _NAME)}{'Gb/s'.rjust(_GBPS)}{'  CPU %' if has_cpu else ''}".rstrip()
    for choice in advice.choices:
        yield from _choice(choice)
    if advice.todo:
        yield ""
        yield "to do"
        for number, act in enumerate(advice.todo, 1):
            yield from wrapped(act, COLUMNS, f"  {number}. ", "     ")
    yield ""
    for (certainty, source), grounds in groupby(
        advice.grounds, key=lambda ground: (ground.certainty, ground.source)
    ):
        for ground in grounds:
            yield from _said("because", ground.says)
        yield from wrapped(f"({certainty}: {source})", COLUMNS, " " * _HEAD)
    for unknown in advice.unknown:
        yield from _said("not known", unknown)


def _choice(choice: Choice) -> Iterator[str]:
    cpu = f"  {choice.cpu_percent}" if choice.cpu_percent else ""
    yield f"{pad(choice.name, _NAME)}{_gbps(choice).rjust(_GBPS)}{cpu}".rstrip()
    for text in (choice.note, str(choice.certainty)):
        if text:
            yield from wrapped(text, COLUMNS, "    ")


def _gbps(choice: Choice) -> str:
    low, high = choice.gbps_low, choice.gbps_high
    if high is None:
        return "-"
    if low is None:
        return f"at most {high:g}"
    first, last = _figure(low), _figure(high)
    return first if first == last else f"{first} to {last}"


def _figure(gbps: float) -> str:
    return f"{gbps:.2g}" if 0 < gbps < 1 else f"{gbps:.1f}".removesuffix(".0")


def _said(head: str, text: str) -> Iterator[str]:
    if columns_of(head) >= _HEAD:
        raise AssertionError("a head has a column of its own")
    yield from wrapped(text, COLUMNS, pad(head, _HEAD), " " * _HEAD)
