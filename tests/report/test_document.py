"""What both renderers make of any document: the same blocks, and no text that steers a page."""

from pathlib import Path

import pytest
from markupsafe import Markup

from wirespeed import report
from wirespeed.model.workload_trial import (
    CoreUse,
    HostUse,
    Labelled,
    PortUse,
    Workload,
    WorkloadTrial,
)
from wirespeed.report import svg
from wirespeed.report.build import build_page
from wirespeed.report.comparison import Comparison, NotShown, Rfc2544
from wirespeed.report.comparison_document import comparison_document
from wirespeed.report.diagnosis_document import diagnosis_document
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
from wirespeed.report.page_document import page_document
from wirespeed.report.proof_document import proof_document
from wirespeed.report.workload_document import workload_document

from .diagnoses import HOSTILE, filled_with
from .pages import PageReader
from .proofs import PORTS, SPEC, failover, proof
from .records import outcome, setup

FAMILIES = sorted(
    path.name.removesuffix("_document.py")
    for path in Path(next(iter(report.__path__))).glob("*_document.py")
)


NAME = "<img src=x>"
"""What a host may call a port."""


def workload() -> Document:
    port = PortUse(
        netdev=NAME, received_bps=1e9, sent_bps=1, received_bps_peak=None, sent_bps_peak=None
    )
    use = HostUse(
        host="here",
        seconds=1,
        readings=2,
        ports=(port,),
        sent_segments=None,
        retransmitted_segments=None,
        cores=(CoreUse(core=0, busy=0.5, busy_peak=None),),
    )
    run = Workload(
        label="before",
        argv=("true",),
        figure="(x)",
        unit="s",
        higher_is_better=False,
        limit_seconds=1,
        hosts=("here",),
        started_at="",
        wirespeed="",
    )
    trial = WorkloadTrial(
        label="before",
        number=1,
        started_at="",
        seconds=1,
        figure=1,
        line="",
        failed="",
        said=(),
        hosts=(use,),
    )
    return workload_document([Labelled(run, (trial,))], None)


def of_every_family() -> dict[str, Document]:
    one = proof(trials=(failover(PORTS[0], 1, carried_before=NAME),), found=(filled_with(NAME),))
    ways = Rfc2544(why_not={"ovs-tc": NAME})
    gone = NotShown("ovs-tc", "host.gone", NAME, "")
    return {
        "proof": proof_document(one),
        "comparison": comparison_document(Comparison("x", (one, gone), SPEC, ways)),
        "page": page_document(build_page([setup(["DUT"]), outcome(dut=NAME)], filled_with(NAME))),
        "workload": workload(),
        "diagnosis": diagnosis_document([filled_with(NAME)]),
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_host_calls_a_port_is_text_in_every_family(family: str):
    page = of_every_family()[family]
    reader = PageReader(render_html(page))
    assert NAME in reader.text
    assert "img" not in reader.tags
    # A line that is indented stands as it is: lines for a shell.
    lines = [line for line in render_markdown(page).splitlines() if not line.startswith("    ")]
    assert any("&lt;img src=x&gt;" in line for line in lines)
    assert not any("<img" in line for line in lines)


def test_every_family_is_asked():
    assert set(of_every_family()) == set(FAMILIES)


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
        "# nine\n\n## ten\n\none\n\n- two (cat three)\n\n**four** (five)\n\n    six\n"
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
