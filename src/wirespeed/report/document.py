"""A page before it is HTML or Markdown: blocks in their order. Pure.

Texts stand here as they came, a host's own among them: both renderers make each one harmless and
escape it. A `Drawing` alone is markup already; its builder (`svg.py`) did the same.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from markupsafe import Markup

from wirespeed.report.grid import Grid

MOST_CHARACTERS = 4000
"""Of one text, in either format: more of it is cut, and the cut is marked."""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph, or an item of a list."""

    text: str
    tone: Literal["plain", "meta", "price", "alarm"] = "plain"
    strong: str = ""
    """Words before it that stand out."""
    sources: tuple[str, ...] = ()
    """Commands that show it again, or that would tell."""
    items: tuple["Text", ...] = ()
    """A list beneath it."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A title within a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Warn:
    """What a reader must know before the rest, a paragraph each."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Lines for a shell."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart. Markdown has none: a table beside it says the same."""

    svg: Markup
    caption: str


@dataclass(frozen=True, slots=True)
class Gallery:
    """Small drawings side by side, under what explains them."""

    caption: str
    drawings: tuple[Drawing, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of a card."""

    label: str
    """`found`, `so` or `next`; empty: more of the line before."""
    text: str
    source: str = ""
    """The command that shows it again."""
    danger: str = ""
    """What it may break."""
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """One finding."""

    severity: str
    title: str
    places: str
    prices: tuple[Text, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Cards:
    """Findings, the dearest first."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that a page shows on demand; Markdown shows them in their place."""

    summary: str
    aside: str
    """A word of what is in it: a count, or what it is for."""
    blocks: tuple["Block", ...]
    is_open: bool = False


Block: TypeAlias = Text | Items | Heading | Warn | Code | Drawing | Gallery | Cards | Grid | Folded


TileTone: TypeAlias = Literal["plain", "other", "good", "bad"]


@dataclass(frozen=True, slots=True)
class Tile:
    """One answer at the head of a page, its figure large."""

    title: str
    figure: str
    texts: tuple[str, ...] = ()
    tone: TileTone = "plain"
    beside_title: str = ""
    beside_figure: str = ""
    link: str = ""
    """A page beside this one."""
    link_text: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page, with the anchor that leads to it."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]
    short: str = ""
    """Its title among the links at the head of the page, where that is another."""


@dataclass(frozen=True, slots=True)
class Document:
    """A page."""

    title: str
    sections: tuple[Section, ...]
    footer: str
    tab: str = ""
    """Its title in a browser, where that is another: the answer first."""
    meta: tuple[str, ...] = ()
    """What it is of, when it was made and by what: a line each."""
    verdict: Text | None = None
    lead: tuple[Block, ...] = ()
    tiles: tuple[Tile, ...] = ()
    warnings: tuple[str, ...] = ()
