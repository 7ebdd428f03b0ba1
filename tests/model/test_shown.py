import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.model.shown import MAX_CHARACTERS, shown

# Unicode's general categories of what steers or hides: control, format, surrogate, private use,
# unassigned, line and paragraph separator.
HARMFUL = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("enp59s0", "enp59s0"),
        ("이더넷 2", "이더넷 2"),
        ("Größe 2.5 GT/s", "Größe 2.5 GT/s"),
        ("\x1b[2J\x1b[31mall is well", r"\x1b[2J\x1b[31mall is well"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("one\r\ntwo", r"one\x0d\x0atwo"),
        ("a\tb", "a b"),
        ("\u202egpj.exe", r"\u202egpj.exe"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("line\u2028end", r"line\u2028end"),
        ("\ud800", r"\ud800"),
        ("\U000e0001", r"\U000e0001"),
        ("\x7f\x00", r"\x7f\x00"),
    ],
)
def test_what_is_not_printable_is_written_out(text: str, expected: str):
    assert shown(text) == expected


def test_a_long_text_is_cut_and_says_so():
    assert shown("x" * MAX_CHARACTERS) == "x" * MAX_CHARACTERS
    assert shown("x" * 10**6) == "x" * (MAX_CHARACTERS - 1) + "…"
    assert shown("abcdef", 4) == "abc…"


@given(st.text(st.characters()))
def test_nothing_that_steers_a_terminal_is_left(text: str):
    assert not {unicodedata.category(c) for c in shown(text)} & HARMFUL
