"""A document as Markdown, to be read in a terminal of 80 columns, a diff or an issue.

It has what the page has, save drawings: a table beside each says the same.
"""

import re
from collections.abc import Iterable, Iterator

from wirespeed.model.shown import shown
from wirespeed.report.document import (
    MOST_CHARACTERS,
    Block,
    Card,
    Cards,
    Code,
    Document,
    Drawing,
    Folded,
    Gallery,
    Heading,
    Items,
    Text,
    Tile,
    Warn,
)
from wirespeed.report.grid import Cell, Grid, columns

NOTHING = "—"


def render_markdown(document: Document) -> str:
    """Give the whole text. A section whose blocks are all drawings is left out."""
    parts = [f"# {escape(document.title)}", "  \n".join(map(escape, document.meta))]
    if document.verdict is not None:
        parts.append(f"**{escape(document.verdict.text)}**")
    parts += _all(document.lead)
    parts.append("\n".join(map(_tile, document.tiles)))
    parts += _block(Warn(document.warnings))
    for section in document.sections:
        if blocks := list(_all(section.blocks)):
            parts += [f"## {escape(section.title)}", *blocks]
    return "\n\n".join(filter(None, parts)) + "\n"


def escape(text: str) -> str:
    r"""Text that Markdown, and HTML inside it, takes as it is: no table, emphasis, link or tag.

    A line break becomes a space, for a table's row is one line.
    """
    one_line = shown(" ".join(text.split()), MOST_CHARACTERS)
    html = one_line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", html)


def _all(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Text():
            yield "\n".join(_text(block))
        case Items():
            yield "\n".join(_list(block.items))
        case Heading():
            yield f"### {escape(block.text)}"
        case Warn():
            yield from (f"> {escape(text)}" for text in block.texts)
        case Code():
            lines = (shown(line, MOST_CHARACTERS) for line in block.lines)
            yield "\n".join(f"    {line}".rstrip() for line in lines)
        case Cards():
            yield from map(_card, block.cards)
        case Folded():
            if within := list(_all(block.blocks)):
                aside = f" ({escape(block.aside)})" if block.aside else ""
                yield f"**{escape(block.summary)}**{aside}"
                yield from within
        case Grid():
            yield from _grid(block)
        case Drawing() | Gallery():
            return


def _text(text: Text) -> Iterator[str]:
    strong = f"**{escape(text.strong)}** " if text.strong else ""
    sources = f" ({escape('; '.join(text.sources))})" if text.sources else ""
    yield strong + escape(text.text) + sources
    yield from (f"  {line}" for line in _list(text.items))


def _list(items: Iterable[Text]) -> Iterator[str]:
    for item in items:
        first, *more = _text(item)
        yield f"- {first}"
        yield from more


def _tile(tile: Tile) -> str:
    title, figure = (
        escape(" ".join(filter(None, words)))
        for words in ((tile.title, tile.beside_title), (tile.figure, tile.beside_figure))
    )
    texts = escape("; ".join(filter(None, tile.texts)))
    # Another mark than that of a list before it, which would go on with it.
    return f"* **{title}: {figure}**" + (f", {texts}" if texts else "")


def _card(card: Card) -> str:
    head = f"**{escape(card.severity.upper())} {escape(card.title)}** {escape(card.places)}"
    lines = [f"- {escape(price.text)}" for price in card.prices]
    for fact in card.facts:
        danger = f" ({fact.danger.upper()})" if fact.danger else ""
        source = f" ({fact.source})" if fact.source else ""
        commands = f": {'; '.join(fact.commands)}" if fact.commands else ""
        label = f"{fact.label}: " if fact.label else ""
        lines.append(f"- {label}{escape(fact.text + danger + source + commands)}")
    return "\n".join([head, "", *lines])


def _grid(grid: Grid) -> Iterator[str]:
    if not grid.rows:
        yield from filter(None, [escape(grid.empty)])
    elif grid.narrow != "left out":
        if grid.look != "quiet":
            caption = f": {escape(grid.caption)}" if grid.caption else ""
            yield f"**{escape(grid.title)}**{caption}"
        if grid.narrow == "list":
            yield from _rows_as_lists(grid)
        else:
            yield _table(_turned(grid) if grid.narrow == "turned" else grid)
        if grid.notes:
            yield "\n".join(f"- ({n}) {escape(note)}" for n, note in enumerate(grid.notes, 1))


def _table(grid: Grid) -> str:
    return "\n".join(
        [
            _row([escape(c.heading) for c in grid.columns]),
            _row(["---:" if c.figures else "---" for c in grid.columns]),
            *(_row([_cell(c) for c in row]) for row in grid.rows),
        ]
    )


def _rows_as_lists(grid: Grid) -> Iterator[str]:
    """Give each row as its name and an item for each column that says something."""
    for row in grid.rows:
        items = zip(grid.columns[1:], row[1:], strict=True)
        lines = [
            f"- {escape(column.heading)}: {_cell(cell)}"
            for column, cell in items
            if cell.text not in ("", NOTHING) or cell.note is not None
        ]
        if len(set(row[1:])) == 1 and row[1].note is not None:
            # One reason why there is none of them.
            yield f"{_cell(row[0])}: {_cell(row[1])}"
        else:
            yield "\n".join([f"{_cell(row[0])}:", "", *lines])


def _turned(grid: Grid) -> Grid:
    """Make rows of the columns: a wide table with few rows fits into 80 columns so."""
    heads = [row[0].text for row in grid.rows]
    rows = [
        (Cell(text=column.heading), *(row[place] for row in grid.rows))
        for place, column in enumerate(grid.columns)
        if place
    ]
    return grid.model_copy(update={"columns": columns("", *heads, words=[""]), "rows": tuple(rows)})


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    return escape(cell.text) + (f" ({cell.note})" if cell.note is not None else "")
