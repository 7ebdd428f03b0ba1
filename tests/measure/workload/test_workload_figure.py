"""The figure in what a command printed."""

import pytest

from wirespeed.host.runner import Completed
from wirespeed.measure.workload.figure import figure_pattern, read_figure
from wirespeed.model.error import InputError


def completed(
    output: str = "", errors: str = "", returncode: int = 0, *, cut: bool = False
) -> Completed:
    return Completed(
        argv=("x",), output=output, errors=errors, returncode=returncode, duration_s=1.0, cut=cut
    )


TOKENS = figure_pattern(r"throughput: ([0-9.,_]+) tok/s")


def test_the_last_match_counts_as_a_total_stands_last():
    said = "throughput: 80 tok/s\nthroughput: 91.5 tok/s (mean)\ndone\n"
    reading = read_figure(completed(said), TOKENS)
    assert (reading.figure, reading.line) == (91.5, "throughput: 91.5 tok/s (mean)")
    assert not reading.failed


def test_the_output_comes_before_the_errors():
    said = completed("throughput: 1 tok/s\n", "throughput: 2 tok/s\n")
    assert read_figure(said, TOKENS).figure == 1
    assert read_figure(completed("", "throughput: 2 tok/s\n"), TOKENS).figure == 2


def test_a_line_can_be_named_by_its_begin_and_end():
    reading = read_figure(completed("a 1\nreal 3.2\nb 2\n"), figure_pattern(r"^real (\S+)$"))
    assert reading.figure == 3.2


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_a_line_of_windows_and_one_of_progress_end_too(end: str):
    said = completed(end.join(("a 1", "real 3.2", "b 2", "")))
    reading = read_figure(said, figure_pattern(r"^real (\S+)$"))
    assert (reading.figure, reading.line) == (3.2, "real 3.2")


def test_a_command_that_failed_has_no_figure_though_it_printed_one():
    reading = read_figure(completed("throughput: 9 tok/s\n", "out of memory\n", 3), TOKENS)
    assert reading.figure is None
    assert reading.failed == "exit code 3"
    assert reading.said == ("out of memory",)
    assert not reading.is_silent


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (completed(returncode=-9), "killed by signal 9"),
        (completed("throughput: 9 tok/s", cut=True), "it printed without end, and was ended"),
    ],
)
def test_a_command_that_was_ended_says_how(one: Completed, why: str):
    reading = read_figure(one, TOKENS)
    assert (reading.figure, reading.failed) == (None, why)


def test_no_figure_shows_what_was_printed_instead():
    lines = [f"line {number}" for number in range(20)]
    reading = read_figure(completed("\n".join(lines)), TOKENS)
    assert reading.is_silent
    assert reading.said == tuple(lines[-8:])


@pytest.mark.parametrize("text", ["1,234", "1_000", "...", ","])
def test_what_could_be_read_in_two_ways_is_no_number(text: str):
    reading = read_figure(completed(f"throughput: {text} tok/s"), TOKENS)
    assert reading.figure is None
    assert reading.is_silent
    assert "not a number" in reading.failed


@pytest.mark.parametrize("text", ["nan", "inf", "1e999"])
def test_what_is_not_finite_is_no_figure(text: str):
    assert read_figure(completed(f"took {text}"), figure_pattern(r"took (\S+)")).figure is None


def test_what_a_command_says_cannot_move_the_cursor():
    reading = read_figure(completed("", "\x1b[2Jgone\n", 1), TOKENS)
    assert reading.said == ("\\x1b[2Jgone",)


@pytest.mark.parametrize("text", ["no group", "(one) (two)", "(", "(?:x)"])
def test_a_pattern_has_one_group(text: str):
    with pytest.raises(InputError) as caught:
        figure_pattern(text)
    assert caught.value.where == "--figure"
