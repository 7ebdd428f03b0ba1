"""Breaking text into lines: nothing is lost, nothing is too wide, and a command stays a command."""

import shlex
import subprocess

import pytest
import tree_sitter_powershell
from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Language, Parser

from wirespeed.model.command import Command, Shell
from wirespeed.model.shown import shown
from wirespeed.report.load_text import LoadUnit, decimal
from wirespeed.report.text_lines import clip, columns_of, pad, wrapped, wrapped_command

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200).map(shown)


@pytest.mark.parametrize(
    ("text", "columns"),
    [("", 0), ("enp59s0", 7), ("이더넷", 6), ("\uff21", 2), ("…", 1), ("e\u0301", 1)],
)
def test_a_letter_takes_the_columns_that_a_terminal_gives_it(text: str, columns: int):
    assert columns_of(text) == columns


@given(TEXT, st.integers(10, 90))
def test_no_line_is_too_wide_and_no_letter_is_lost(text: str, columns: int):
    lines = wrapped(text, columns, "  - ", "    ")
    assert all(columns_of(line) <= columns for line in lines)
    kept = "".join(line[4:] for line in lines)
    assert "".join(kept.split()) == "".join(text.split())


@given(TEXT, st.integers(1, 60))
def test_a_cut_is_as_wide_as_it_may_be_and_marked(text: str, columns: int):
    cut = clip(text, columns)
    assert columns_of(cut) <= columns
    assert cut == text or cut.endswith("…")
    assert columns_of(pad(text, columns)) == columns


WORDS = st.lists(st.text("ab =:/'\"$\\*;|&x", max_size=30), min_size=1, max_size=12)


@given(WORDS, st.integers(20, 80))
def test_a_command_that_was_broken_is_the_same_command(argv: list[str], columns: int):
    line = Command(argv=tuple(argv)).line()
    pasted = "\n".join(wrapped_command(line, columns, "  ", "    "))
    assert shlex.split(pasted.replace("\\\n", "")) == argv


def test_powershell_reads_a_broken_command_as_one():
    """By its grammar: a backtick at the end of a line goes on with the next."""
    name = "Mellanox ConnectX-5 Ex Adapter #3, it's long"
    argv = ("Disable-NetAdapterBinding", "-InterfaceDescription", name, "-ComponentID", "nt_rtf64")
    lines = wrapped_command(Command(argv=argv, shell=Shell.POWERSHELL).line(), 50, "  ", "    ")
    assert len(lines) > 2
    assert all(line.endswith(" `") for line in lines[:-1])
    root = Parser(Language(tree_sitter_powershell.language())).parse("\n".join(lines).encode())
    assert not root.root_node.has_error
    (pipeline,) = root.root_node.named_children[0].named_children
    assert pipeline.type == "pipeline"


def test_a_shell_reads_a_broken_command_as_one():
    argv = ("printf", "%s|", "a b", "it's", '"quoted"', "x" * 70, "$HOME", "*")
    lines = wrapped_command(Command(argv=argv).line(), 40, "   ", "     ")
    assert len(lines) > 2
    done = subprocess.run(
        ["/bin/sh", "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "".join(f"{word}|" for word in argv[2:])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (0.0312, "0.0312"), (1.0, "1.00"), (9.994, "9.99"), (9.996, "10.0"),
        (98.14, "98.1"), (9999.4, "9999.4"), (1234567.0, "1,234,567"), (float("inf"), "no bound"),
        (1e-12, "1.0e-12"),
    ],
)  # fmt: skip
def test_a_figure_has_three_digits_or_one_place(value: float, text: str):
    assert decimal(value) == text


def test_loads_of_short_frames_are_in_mpps_and_of_others_in_gbps_of_wire_time():
    assert (LoadUnit(255).name, LoadUnit(255).text(14_880_952)) == ("Mpps", "14.9")
    # RFC 2544: 812 743 frames of 1518 bytes fill 10 Gb/s.
    assert (LoadUnit(1518).name, LoadUnit(1518).text(812_743)) == ("Gb/s", "10.0")
