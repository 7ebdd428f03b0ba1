"""A table of finished text, the same for HTML and Markdown."""

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from wirespeed.model.frozen import Frozen
from wirespeed.report.page import NOT_PROVEN, Missing

T = TypeVar("T")


class Column(Frozen):
    """A heading, and whether its cells line up at their right as figures do."""

    heading: str
    figures: bool = True
    wraps: bool = False
    """Long text, which may break into lines."""


class Cell(Frozen):
    """Text, and the number of the note under the table that explains it."""

    text: str
    note: int | None = None
    tone: Literal["plain", "missing", "alarm"] = "plain"
    """`missing`: no figure here. `alarm`: not proven, or void."""


class Grid(Frozen):
    """A table with its title, what it says in one sentence, and its notes, numbered from 1."""

    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    empty: str = ""
    """What stands in its place when it has no row."""
    look: Literal["plain", "quiet", "facts"] = "plain"
    """On a page. `quiet`: its title stands before it. `facts`: names and values without a head."""
    narrow: Literal["table", "turned", "list", "left out"] = "table"
    """In Markdown, for a terminal of 80 columns: rows for its columns; or each row as a list."""


class Notes:
    """Gathers the reasons of a table's missing figures, each once."""

    def __init__(self) -> None:
        self._reasons: list[str] = []

    def number(self, reason: str) -> int:
        """Which note holds this reason."""
        if reason not in self._reasons:
            self._reasons.append(reason)
        return self._reasons.index(reason) + 1

    def cell(self, value: T | Missing, show: Callable[[T], str]) -> Cell:
        """Show the figure, or its placeholder with the reason as a note."""
        if isinstance(value, Missing):
            tone: Literal["missing", "alarm"] = "alarm" if value.shown == NOT_PROVEN else "missing"
            return Cell(text=value.shown, note=self.number(value.reason), tone=tone)
        return Cell(text=show(value))

    @property
    def all(self) -> tuple[str, ...]:
        """Every reason in the order of its number."""
        return tuple(self._reasons)


def text(*values: str) -> tuple[Cell, ...]:
    """Cells of plain text."""
    return tuple(Cell(text=v) for v in values)


def columns(
    *headings: str, words: Sequence[str] = (), wraps: Sequence[str] = ()
) -> tuple[Column, ...]:
    """Columns of figures, save those named in `words` and, where they may be long, in `wraps`."""
    return tuple(
        Column(heading=h, figures=h not in words and h not in wraps, wraps=h in wraps)
        for h in headings
    )
