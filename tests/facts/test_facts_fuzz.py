"""Whatever a host printed: no parser raises, none takes long, and the doctor has an answer.

What is mutated are the captures of the rules' cases, and for every fact the sections that it reads.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wirespeed.catalog import facts
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import Capture, Section, parse_capture
from wirespeed.model.fact import Fact, HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.model.question import Purpose, Question
from yardstick import is_quick

TESTS = Path(__file__).parent.parent
CASES = sorted((TESTS / "rules/cases").glob("*/*/capture.txt"))
SAMPLES = sorted(path for path in (TESTS / "facts/samples").rglob("*") if path.is_file())
MAX_PARSE_LOOPS = 40.0
NUMBERS = ["0", "-1", "2.5", "1e999", "NaN", "0x", "0xfffffffffffffffff", "9" * 40, "9" * 5000,
           "\u0663", "\u00b2", "1_000", "", "null", "true", "[]", "{}", '"x"']  # fmt: skip
WORDS = ["이더넷", "Geschwindigkeit: unbekannt", "no", "n/a", "[fixed]", "Unknown!", "<none>",
         "\x1b[2J", "\0", "\x85", "\u2028", "\t", "\r", ":", "/", "0000:03:00.0",
         "fe80::1"]  # fmt: skip
JSON = ["null", "[]", "{}", "0", '""', "[null]", '{"a": []}', "true", "[" * 2000]
ERRORS = ["", "Permission denied", "netlink error: No such device", "sh: 1: x: not found",
          "grep: /sys/x: Invalid argument", "\x1b]0;x\x07"]  # fmt: skip
CODES = [0, 1, 2, 123, 124, 126, 127, None]


class Recorder(Capture):
    """Remembers which sections a parser asks for."""

    def __init__(self, capture: Capture, asked: set[str]) -> None:
        super().__init__(capture.all_sections(), complete=capture.complete)
        self._asked = asked

    def section(self, name: str, subject: str = "") -> Section | None:
        self._asked.add(name)
        return super().section(name, subject)

    def sections(self, name: str) -> dict[str, Section]:
        self._asked.add(name)
        return super().sections(name)


@cache
def captures() -> list[Capture]:
    return [parse_capture(path.read_text(), path.parent.name) for path in CASES]


@cache
def texts() -> list[str]:
    return [path.read_text(errors="replace") for path in SAMPLES] or [""]


def parse_of(fact: type[Fact], capture: Capture) -> None:
    """Parse; that nobody can tell anything of it is an answer too."""
    with suppress(CannotTellError):
        fact.parse(capture)


@cache
def names_read_by(fact: type[Fact]) -> frozenset[str]:
    asked: set[str] = set()
    for capture in captures():
        parse_of(fact, Recorder(capture, asked))
    return frozenset(asked)


def replace_match(pattern: str, words: list[str]) -> Callable[[st.DrawFn, str], str]:
    def mutate(draw: st.DrawFn, text: str) -> str:
        found = list(re.finditer(pattern, text[:20_000]))
        if not found:
            return text
        match = draw(st.sampled_from(found))
        return text[: match.start()] + draw(st.sampled_from(words)) + text[match.end() :]

    return mutate


def cut(draw: st.DrawFn, text: str) -> str:
    at = draw(st.integers(0, len(text)))
    return text[:at] if draw(st.booleans()) else text[at:]


def splice(draw: st.DrawFn, text: str) -> str:
    at = draw(st.integers(0, len(text)))
    other = draw(st.one_of(st.text(max_size=60), st.sampled_from(texts())))
    return text[:at] + other + text[at:]


def shuffle_lines(draw: st.DrawFn, text: str) -> str:
    lines = text.split("\n")[:200]
    return "\n".join(draw(st.permutations(lines)) if len(lines) < 40 else lines[::-1])


def repeat(draw: st.DrawFn, text: str) -> str:
    return text * draw(st.integers(2, 5))


MUTATIONS: list[Callable[[st.DrawFn, str], str]] = [
    cut,
    splice,
    shuffle_lines,
    repeat,
    replace_match(r"-?\d+(\.\d+)?", NUMBERS),
    replace_match(r"[A-Za-z_]+", WORDS),
    replace_match(r'"(?:[^"\\]|\\.)*"|\[[^\[\]]*\]|\{[^{}]*\}', JSON),
    replace_match(r"\n", WORDS),
]


@cache
def open_to(wanted: frozenset[str] | None) -> list[tuple[Capture, list[int]]]:
    """The captures that have such sections, each with where they stand; None for all sections."""
    found = []
    for capture in captures():
        sections = capture.all_sections()
        where = [n for n, s in enumerate(sections) if wanted is None or s.name in wanted]
        if where:
            found.append((capture, where))
    return found


@st.composite
def mutated(draw: st.DrawFn, wanted: frozenset[str] | None) -> Capture:
    """One of the cases' captures with a few of its `wanted` sections spoilt, None for any."""
    if not open_to(wanted):
        return Capture([], complete=True)
    capture, where = draw(st.sampled_from(open_to(wanted)))
    sections = list(capture.all_sections())
    for number in draw(st.lists(st.sampled_from(where), min_size=1, max_size=3, unique=True)):
        section = sections[number]
        output = section.output
        for mutate in draw(st.lists(st.sampled_from(MUTATIONS), max_size=4)):
            output = mutate(draw, output)
        errors, code = section.errors, section.returncode
        if draw(st.integers(0, 4)) == 0:
            errors, code = draw(st.sampled_from(ERRORS)), draw(st.sampled_from(CODES))
        sections[number] = Section(section.name, section.subject, output, errors, code)
    return Capture(sections, complete=draw(st.booleans()))


SOME = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("fact", facts(), ids=lambda fact: fact.__name__)
def test_a_parser_never_raises_and_is_quick(fact: type[Fact]):
    names = names_read_by(fact)

    @SOME
    @given(mutated(names))
    def parse(capture: Capture) -> None:
        started = process_time()
        parse_of(fact, capture)
        assert is_quick(process_time() - started, loops=MAX_PARSE_LOOPS)

    parse()


@pytest.mark.parametrize("fact", facts(), ids=lambda fact: fact.__name__)
def test_a_parser_takes_sections_of_nothing_and_of_one_long_line(fact: type[Fact]):
    parse_of(fact, Capture([], complete=False))
    for line in ("", "\n" * 1000, "x" * 1_000_000, "1 " * 300_000, "{" * 100_000, "a: " * 300_000):
        for code in (0, 1, None):
            started = process_time()
            parse_of(
                fact,
                Capture(
                    [Section(name, "", line, "", code) for name in names_read_by(fact)]
                    + [Section(name, "eth0", line, "", code) for name in names_read_by(fact)],
                    complete=True,
                ),
            )
            assert is_quick(process_time() - started, loops=MAX_PARSE_LOOPS), line[:10]


@settings(SOME, max_examples=150)
@given(mutated(None), st.sampled_from([None, *Purpose]))
def test_the_doctor_has_an_answer_whatever_a_host_printed(
    capture: Capture, purpose: Purpose | None
):
    question = Question(purpose=purpose, peer="192.0.2.7", rtt_s=0.001, measured_bps=5e10)
    diagnosis = diagnose(HostFacts("host", capture), question)
    assert diagnosis.model_dump_json()
