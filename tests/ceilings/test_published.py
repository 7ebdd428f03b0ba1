"""No published figure lies above the ceiling of its path, save the one that is impossible.

`published/*.csv` are tables of four documents, as published; `setups.csv` has the documents' own
words on each. Nothing in the ceilings was fitted to them.
"""

from collections import Counter
from pathlib import Path

import pytest

from compare_ceilings import table
from published_ceilings import PUBLISHED, Compared, compared
from wirespeed.model.ceiling import Band

FIGURES = list(compared())
MEASURED = [f for f in FIGURES if f.kind != "nominal"]
IMPOSSIBLE = "wsl2-connectx5.csv: reverse direction"
PAGE = Path(__file__).parents[2] / "docs/ceilings.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"


def name(figure: Compared) -> str:
    return f"{figure.file}: {figure.name}"


def named(label: str) -> Compared:
    (found,) = (f for f in FIGURES if name(f) == label)
    return found


def test_every_figure_of_the_tables_is_compared():
    # Counted by hand: 8 stages, 3 approaches with 3 throughputs each, 9 transports, 6 tests of 7.
    assert Counter(f.file for f in FIGURES) == {
        "wsl2-connectx5.csv": 8,
        "connectx5-sriov.csv": 3 * 3,
        "live-migration.csv": 9,
        "dpdk-19.08-report.csv": 6 * 7,
    }
    assert len({name(f) for f in FIGURES}) == len(FIGURES)


@pytest.mark.parametrize("figure", MEASURED, ids=name)
def test_no_measured_figure_lies_above_its_ceiling(figure: Compared):
    if name(figure) != IMPOSSIBLE:
        assert not figure.is_impossible, figure


def test_more_than_100_through_a_slot_of_63_is_named_impossible():
    figure = named(IMPOSSIBLE)
    assert figure.is_impossible
    assert figure.may_bound == ("pcie",)
    # Raw: 16 GT/s x 4 lanes x 128/130 = 63.0; no overhead makes that more.
    assert figure.band.high < 63.02 < float(figure.least)


@pytest.mark.parametrize("figure", [f for f in MEASURED if f.said_bound], ids=name)
def test_what_the_document_says_bounds_it_may_bound_it(figure: Compared):
    assert figure.said_bound in figure.may_bound


@pytest.mark.parametrize(
    ("label", "element"),
    [
        ("wsl2-connectx5.csv: as found", "virtual switch"),
        ("wsl2-connectx5.csv: bridged", "pcie"),
        ("live-migration.csv: lacp team 2x10 tcp, 8 queues on 8 cores, 2", "cores"),
        ("dpdk-19.08-report.csv: test 1, 128 bytes", "ethernet"),
        ("dpdk-19.08-report.csv: test 3, 64 bytes", "cores"),
        ("dpdk-19.08-report.csv: test 3, 128 bytes", "cores"),
    ],
)
def test_what_binds_is_told_alone_where_bands_do_not_overlap(label: str, element: str):
    assert named(label).may_bound == (element,)


@pytest.mark.parametrize("figure", MEASURED, ids=name)
def test_bands_are_not_so_wide_that_they_say_nothing(figure: Compared):
    assert figure.band.high < 1.5 * figure.band.low


@pytest.mark.parametrize(
    ("printed", "kind", "least"),
    [("53.6", "measured", 53.55), ("10", "measured", 9.5), ("74.40", "measured", 74.395),
     ("100", "more than", 100.0)],
)  # fmt: skip
def test_half_of_the_last_digit_is_allowed_and_no_more(printed: str, kind: str, least: float):
    for high, impossible in ((least * 1.0001, False), (least * 0.9999, True)):
        figure = Compared("", "", "", printed, kind, Band(low=1, high=high), (), "", "")
        assert figure.is_impossible is impossible


def test_every_setup_says_what_the_document_says():
    assert all(f.words for f in FIGURES)


def test_the_page_has_what_the_tool_prints():
    text = PAGE.read_text()
    shown = text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip()
    assert shown == "\n".join(table())


def test_the_tables_are_those_that_were_published():
    # Sums of the columns, added up by hand from the documents.
    rows = (PUBLISHED / "connectx5-sriov.csv").read_text().splitlines()[1:]
    sums = [sum(int(row.split(",")[i]) for row in rows) for i in (1, 2, 3)]
    assert sums == [70 + 61 + 83, 82 + 85 + 86, 95 + 96 + 96]
