"""What the steps of Windows share: an adapter's name, and rows of JSON to a state."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator

from wirespeed.model.capture import Capture, Section
from wirespeed.model.command import Command, Shell
from wirespeed.model.observed import Known, Observed, Unreadable, read_as
from wirespeed.model.step import State
from wirespeed.platforms.windows.facts.windows_rows import Row, rows_of

MAX_NAME = 256
Rows = tuple[Row, ...]


def _adapter(text: str) -> str:
    if not 1 <= len(text) <= MAX_NAME or not text.isprintable():
        raise ValueError(f"{text[:40]!r} is not a name of an adapter")
    return text


AdapterName = Annotated[str, AfterValidator(_adapter)]
"""Its InterfaceDescription: Windows keeps it to one adapter (`… Adapter #3`), it stays when a
connection is renamed, and every cmdlet of NetAdapter and Hyper-V takes it."""


def powershell(*words: str) -> Command:
    """Make a command of Windows."""
    return Command(argv=words, shell=Shell.POWERSHELL)


def properties(*names: str) -> tuple[str, ...]:
    """Give the words that keep these properties of what a cmdlet gives, and no more."""
    return ("|", "Select-Object", *(word for name in names for word in ("-Property", name)))


def state_of_rows(
    section: Section, read: Command, convert: Callable[[Rows], State]
) -> Observed[State]:
    """Make the state of the rows; Unreadable where the command failed or ValueError is raised."""
    plain = replace(section, subject="")
    rows = rows_of(Capture([plain], complete=True), section.name, read.line())
    if not isinstance(rows, Known):
        return Unreadable(rows.reason, rows.source)
    found = read_as(rows, convert)
    return found if isinstance(found, Known) else Unreadable(_plain(found.reason), found.source)


def text_in(row: Row, name: str) -> str:
    """Give a text of a row; empty where there is none."""
    found = row.text(name)
    return found.value if isinstance(found, Known) else ""


def truth_in(row: Row, name: str) -> bool:
    """Give a truth value. Raises ValueError."""
    found = row.truth(name)
    if not isinstance(found, Known):
        raise ValueError(f"{name}: {found.reason}")
    return found.value


def number_in(row: Row, name: str) -> int:
    """Give a whole number. Raises ValueError."""
    found = row.number(name)
    if not isinstance(found, Known):
        raise ValueError(f"{name}: {found.reason}")
    return found.value


def _plain(reason: str) -> str:
    return reason.removeprefix("it makes no sense: ")
