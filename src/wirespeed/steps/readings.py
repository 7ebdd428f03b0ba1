"""From what a step's command printed to its state; whatever makes no sense is unreadable."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from wirespeed.model.capture import GREP_RETURNCODES, Files, Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable, read_as
from wirespeed.model.step import State


def state_of(section: Section, read: Command, convert: Callable[[str], State]) -> Observed[State]:
    """Make the state of the output; Unreadable where the command failed or ValueError is raised.

    What the host says that it has not is unreadable too: there is no state to come back to.
    """
    text = section.text(read.line())
    if isinstance(text, Known):
        return read_as(text, convert)
    return Unreadable(text.reason, text.source)


def number(text: str) -> int:
    """Read a whole number as the kernel prints it. Raises ValueError."""
    if not re.fullmatch(r"[0-9]{1,19}\n?", text):
        raise ValueError(f"{text[:40]!r} is not a number")
    return int(text)


def files_of(section: Section, paths: Iterable[str]) -> Files:
    """Give the files that `grep -H '' PATH…` printed; all unreadable where it was cut off.

    A file may end anywhere then, and half of it must not be taken for what to come back to.
    """
    if section.returncode not in GREP_RETURNCODES:
        section = replace(section, output="")
    return Files(section, {path.rpartition("/")[2] for path in paths})
