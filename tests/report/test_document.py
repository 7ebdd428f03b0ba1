"""What both renderers make of any document: the same blocks, and no text that steers a page."""

import pytest
from markupsafe import Markup

from wirespeed.report import svg
from wirespeed.report.document import (
    Card,
    Cards,
    Code,
    Document,
    Drawing,
    Fact,
    Folded,
    Gallery,
    Heading,
    Items,
    Section,
    Text,
    Tile,
    Warn,
)
from wirespeed.report.document_html import render_html
from wirespeed.report.document_markdown import render_markdown
from wirespeed.report.grid import Cell, Grid, columns, text

from .diagnoses import HOSTILE
from .pages import PageReader


def grid(value: str, **differs: object) -> Grid:
    made = Grid(
        title=value,
        caption=value,
        columns=columns("a", value, value),
        rows=((*text(value, value), Cell(text=value, note=1)),),
        notes=(value,),
    )
    return made.model_copy(update=differs)


def drawing(value: str) -> Drawing:
    return Drawing(svg.element("svg", {"aria-label": value}, value), value)


def filled(value: str) -> Document:
    """Every field that takes a text has this one."""
    said = Text(value, strong=value, sources=(value,), items=(Text(value),))
    fact = Fact("found", value, value, value, (value,))
    blocks = (
        said,
        Items((said,)),
        Heading(value),
        Warn((value,)),
        Code((value,)),
        drawing(value),
        Gallery(value, (drawing(value),)),
        Cards((Card("fault", value, value, (Text(value, "price"),), (fact,)),)),
        Folded(value, value, (said,)),
        *(grid(value, narrow=way) for way in ("table", "turned", "list", "left out")),
        *(grid(value, look=look) for look in ("quiet", "facts")),
        grid(value, rows=(), empty=value),
    )
    tile = Tile(value, value, (value,), beside_title=value, beside_figure=value)
    return Document(
        title=value,
        tab=value,
        meta=(value,),
        verdict=said,
        lead=blocks,
        tiles=(tile,),
        warnings=(value,),
        sections=(Section("one", value, blocks, short=value), Section("two", value, blocks)),
        footer=value,
    )


@pytest.mark.parametrize("hostile", [*HOSTILE, "<img src=x>"])
def test_no_text_of_any_block_is_markup(hostile: str):
    html = render_html(filled(hostile))
    assert not {"script", "img"} & set(PageReader(html).tags)
    markdown = render_markdown(filled(hostile))
    assert not any("<" in line for line in markdown.splitlines() if not line.startswith("    ")), (
        "but in lines for a shell, which Markdown takes as they are"
    )
    for page in (html, markdown):
        assert all(c.isprintable() or c == "\n" for c in page)


def test_a_drawing_that_is_not_markup_is_escaped():
    page = Document("x", (Section("a", "a", (Drawing("<img>", "y"),)),), "")  # type: ignore[arg-type]
    assert "img" not in PageReader(render_html(page)).tags
    page = Document("x", (Section("a", "a", (Drawing(Markup("<img>"), "y"),)),), "")
    assert "img" in PageReader(render_html(page)).tags


def test_both_have_every_text_and_markdown_leaves_drawings_out():
    blocks = (
        Text("one"),
        Items((Text("two", sources=("cat three",)),)),
        Folded("four", "five", (Code(("six",)),)),
        Drawing(svg.element("svg", {}, "seven"), "eight"),
    )
    page = Document("nine", (Section("a", "ten", blocks), Section("b", "drawn", blocks[3:])), "")
    read = PageReader(render_html(page)).text.partition("drawn")[2].split()
    assert read == [
        "ten",
        "one",
        "twocat",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "drawn",
        "seven",
        "eight",
    ]
    assert render_markdown(page) == (
        "# nine\n\n## ten\n\none\n\n- two (cat three)\n\n**four**: five\n\n    six\n"
    )


def test_a_table_that_is_too_wide_is_turned_or_becomes_a_list():
    rows = (text("tc", "7", "—"), (Cell(text="vlan"), Cell(text="8"), Cell(text="—", note=1)))
    made = Grid(title="G", caption="", columns=columns("", "Mpps", "ms"), rows=rows, notes=("why",))
    turned, listed = (
        render_markdown(Document("x", (Section("a", "a", (grid,)),), ""))
        for grid in (made.model_copy(update={"narrow": way}) for way in ("turned", "list"))
    )
    assert "|  | tc | vlan |\n| --- | ---: | ---: |\n| Mpps | 7 | 8 |\n| ms | — | — (1) |" in turned
    assert turned.endswith("\n\n- (1) why\n")
    assert "tc:\n\n- Mpps: 7\n\nvlan:\n\n- Mpps: 8\n- ms: — (1)\n" in listed


def test_the_links_at_the_head_lead_to_the_sections():
    page = Document("x", (Section("a", "A", ()), Section("b", "B", (), short="b!")), "")
    reader = PageReader(render_html(page))
    assert [to for _, _, to in reader.links] == ["#content", "#a", "#b"]
    assert set(reader.ids) >= {"content", "a", "b"}
