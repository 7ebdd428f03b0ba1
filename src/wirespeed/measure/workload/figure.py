"""The figure of a command's output, found by the user's own pattern. Pure."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from wirespeed.host.runner import Completed
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown

LAST_LINES = 8
COLUMNS = 200
LINE_END = re.compile(r"\r\n?")
"""As Windows ends a line; and as a program goes back to write its progress again."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one run came to: a figure, or why there is none."""

    figure: float | None
    line: str = ""
    failed: str = ""
    said: tuple[str, ...] = ()
    is_silent: bool = False
    """It ended well, and the pattern finds no figure: the next run would do the same."""


class Place(NamedTuple):
    """Where the last figure of a text stands, and the figure as it is written."""

    at: int
    text: str


def last_place(pattern: str, text: str) -> Place | None:
    """Find the last match; with a pattern that backtracks, that may take for ever."""
    found = None
    for match in re.compile(pattern, re.MULTILINE).finditer(text):
        found = match if match[1] is not None else found
    return found and Place(found.start(1), found[1])


def figure_pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern with one group. Raises InputError `options.invalid`."""
    try:
        pattern = re.compile(text, re.MULTILINE)
    except re.error as error:
        raise _invalid(text, f"no regular expression: {error}") from None
    if pattern.groups != 1:
        raise _invalid(text, f"{pattern.groups} groups in parentheses, where one is the figure")
    return pattern


def read_figure(
    completed: Completed,
    pattern: re.Pattern[str],
    find: Callable[[str, str], Place | None] = last_place,
) -> Reading:
    """Take the last match in the output, else the last in the errors: a total stands last."""
    if completed.cut:
        return _failed(completed, "it printed without end, and was ended")
    if completed.returncode < 0:
        return _failed(completed, f"killed by signal {-completed.returncode}")
    if completed.returncode:
        return _failed(completed, f"exit code {completed.returncode}")
    for printed in (completed.output, completed.errors):
        text = LINE_END.sub("\n", printed)
        if found := find(pattern.pattern, text):
            return _read(completed, text, found)
    silent = _failed(completed, "the pattern finds no figure in what it printed")
    return Reading(None, failed=silent.failed, said=silent.said, is_silent=True)


def last_lines(completed: Completed) -> tuple[str, ...]:
    """Give the last that it said: its errors, or its output where there are none."""
    lines = [line for line in completed.errors.splitlines() if line.strip()]
    lines = lines or [line for line in completed.output.splitlines() if line.strip()]
    return tuple(shown(line, COLUMNS) for line in lines[-LAST_LINES:])


def _read(completed: Completed, text: str, found: Place) -> Reading:
    start, end = text.rfind("\n", 0, found.at) + 1, text.find("\n", found.at)
    line = shown(text[start : end if end >= 0 else None].strip(), COLUMNS)
    try:
        figure = float(found.text)
    except ValueError:
        figure = math.nan
    if math.isfinite(figure) and "_" not in found.text:
        return Reading(figure, line=line)
    # `1,234` is a thousand here and one and a bit there: nobody guesses.
    failed = _failed(completed, f"{shown(found.text, 40)!r} is not a number with a decimal point")
    return Reading(None, line=line, failed=failed.failed, said=failed.said, is_silent=True)


def _failed(completed: Completed, why: str) -> Reading:
    return Reading(None, failed=why, said=last_lines(completed))


def _invalid(text: str, found: str) -> InputError:
    return InputError(
        "options.invalid",
        where="--figure",
        found=f"{shown(text, 80)!r}: {found}",
        next="give a pattern such as 'throughput: ([0-9.]+) tok/s'",
    )
