"""Whatever is lacking in a capture, no rule ends by a mistake of its own."""

import re
from functools import cache
from pathlib import Path
from random import Random

import pytest

from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.question import Purpose, Question

CASES = sorted((Path(__file__).parents[1] / "rules/cases").glob("*/present_*/capture.txt"))
VALUE = re.compile(r"(?m)(?<=[:= ])[0-9A-Za-z,.-]+$")
NUMBER = re.compile(r"\b\d+\b")
LINE = re.compile(r"(?m)^(?!case |wirespeed-).+\n")


@cache
def text_of(path: Path) -> str:
    return path.read_text()


def damaged(text: str, drawn: Random) -> str:
    """Blank values, make numbers absurd, leave out lines; the frame of the capture stays."""

    def some(share: float, pattern: re.Pattern[str], *made: str) -> None:
        nonlocal text
        head, line_end, body = text.partition("\n")

        def change(match: re.Match[str]) -> str:
            is_frame = (
                body.rfind("case ", body.rfind("\n", 0, match.start()) + 1, match.start()) >= 0
            )
            return match[0] if is_frame or drawn.random() > share else drawn.choice(made)

        text = head + line_end + pattern.sub(change, body)

    some(0.2, VALUE, "", " ", "-", "none")
    some(0.1, NUMBER, "0", "-1", "9" * 19, "1" + "0" * 400, "4294967295", "x")
    some(0.1, LINE, "", "\n")
    return text


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.parent.name}-{p.parent.name}")
def test_what_is_damaged_is_not_told_and_is_no_fault_of_ours(path: Path):
    drawn = Random(path.parent.name)
    for turn in range(4):
        text = damaged(text_of(path), drawn)
        purpose = drawn.choice([None, *Purpose])
        facts = HostFacts("case", parse_capture(text, "case"))
        answer = diagnose(facts, Question(purpose=purpose))
        assert answer.faults == (), (turn, answer.faults, text)
