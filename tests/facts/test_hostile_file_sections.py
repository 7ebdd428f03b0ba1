"""Each section of a capture in four bad shapes: every fact reads it in linear time.

The seeds are all sections of the rules' cases and of the samples: the longest of each name.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from hostile_reader import is_in_time, seconds_of
from wirespeed.catalog import rules
from wirespeed.facts.ports import MAX_CHARACTERS
from wirespeed.model.capture import MAX_SECTION_CHARACTERS, Section, parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import Fact
from wirespeed.model.observed import CannotTellError

pytestmark = [pytest.mark.rare, pytest.mark.timeout(600)]
TESTS = Path(__file__).parents[1]
LENGTH = 1 << 20


def facts(base: type[Fact] = Fact) -> Iterator[type[Fact]]:
    for one in base.__subclasses__():
        if one.__module__.startswith("wirespeed."):
            yield one
        yield from facts(one)


@cache
def seeds() -> dict[str, Section]:
    found: dict[str, Section] = {}
    for path in (
        *TESTS.glob("rules/cases/*/*/capture.txt"),
        *TESTS.glob("facts/samples/captures/*.txt"),
    ):
        try:
            capture = parse_capture(path.read_text(errors="replace"), path.name)
        except InputError:
            continue
        for section in capture.all_sections():
            before = found.get(section.name)
            if section.output.strip() and (
                before is None or len(before.output) < len(section.output)
            ):
                found[section.name] = section
    return found


def longest(name: str) -> int:
    """Give the characters of a section beyond which no fact reads it."""
    return MAX_CHARACTERS if name == "ports" else MAX_SECTION_CHARACTERS


def numbered(section: Section) -> str:
    """Give its lines again and again, each time with other numbers."""
    lines = [line for line in section.output.splitlines() if line.strip()]
    made: list[str] = []
    length = turn = 0
    while length < LENGTH:
        for line in lines:
            made.append(re.sub(r"\d+", lambda m, t=turn: other(m[0], t), line, count=3))  # type: ignore[misc]
            length += len(line) + 1
        turn += 1
    return "\n".join(made)[:LENGTH]


def other(number: str, turn: int) -> str:
    return str((int(number) + turn) % 10 ** len(number)).zfill(len(number))


def one_line(section: Section) -> str:
    line = max(section.output.splitlines(), key=len)
    return (line * (LENGTH // len(line) + 1))[:LENGTH]


SHAPES = {
    "its lines with other numbers": numbered,
    "its longest line without an end": one_line,
    "short words": lambda _: "a " * (LENGTH // 2),
    "colons": lambda _: ":" * LENGTH,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hostile_file_has_a_section_as_long_as_may_be(shape: str):
    assert rules()  # all facts are imported
    assert len(seeds()) > 100
    slow = []
    for name, section in seeds().items():
        body = SHAPES[shape](section)
        text = (
            f"wirespeed-capture 1 case\ncase begin {name} {section.subject}\n{body}\n\n"
            "case end 0\ncase done\n"
        )

        def read(text: str = text) -> None:
            capture = parse_capture(text, "a file")
            for fact in set(facts()):
                with suppress(CannotTellError):
                    fact.parse(capture)

        if not is_in_time(longest(name) / LENGTH * seconds_of(read)):
            slow.append(name)
    assert slow == []
