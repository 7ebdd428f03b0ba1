"""Line rate, throughput and % hold against the tables that were published with an IXIA.

`published/exceptions.csv` lists every figure that does not follow from the others in its row, with
the reason; docs/published-figures.md explains the reasons.
"""

import csv
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.model.units import (
    MAX_FRAME_BYTES,
    MIN_FRAME_BYTES,
    line_rate_pps,
    load_bps_l1,
    load_bps_l2,
    load_bps_mbuf,
    pct_of_line_rate,
    wire_bytes,
)

PUBLISHED = Path(__file__).parent / "published"
REPORT = Path("src/wirespeed/report/published/dpdk-19.08-report.csv")
PORTS = {"10": 2}
"""Test 3 sends through two 100 Gb/s ports; its line rate columns are those of one."""


class Figure(NamedTuple):
    """One printed figure that should follow from the others in its row."""

    table: str
    frame_bytes: int
    column: str
    printed: Decimal
    computed: float
    low: float
    """The least that the row's rounded inputs allow."""
    high: float

    @property
    def key(self) -> tuple[str, int, str]:
        return self.table, self.frame_bytes, self.column

    @property
    def reproduced(self) -> bool:
        # 1e-9 relative: far below a printed digit, far above what floating point loses.
        exact = Decimal(f"{self.computed:.9g}")
        return exact.quantize(self.printed, rounding=ROUND_HALF_UP) == self.printed

    @property
    def allowed(self) -> bool:
        """Whether inputs that are printed as these would give this figure as printed."""
        half = half_digit(self.printed)
        return self.low < self.printed + half and self.printed - half < self.high


def half_digit(printed: Decimal) -> Decimal:
    exponent = printed.as_tuple().exponent
    assert isinstance(exponent, int)
    return Decimal(5).scaleb(exponent - 1)


def published() -> list[dict[str, str]]:
    with REPORT.open(newline="") as file:
        return list(csv.DictReader(file))


def exceptions() -> list[dict[str, str]]:
    with (PUBLISHED / "exceptions.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def figures() -> Iterator[Figure]:
    for row in published():
        table, frame_bytes = row["table"], int(row["frame_bytes"])
        link_bps = int(row["line_rate_gbps"]) * 10**9
        line_pps = float(line_rate_pps(link_bps, frame_bytes))
        shown = Decimal(row["frame_rate_mpps"])
        low, pps, high = (float(shown + sign * half_digit(shown)) * 1e6 for sign in (-1, 0, 1))
        printed = Decimal(row["line_rate_mpps"])
        mpps = line_pps / 1e6
        yield Figure(table, frame_bytes, "line_rate_mpps", printed, mpps, mpps, mpps)
        if row["pct_line_rate"]:
            # A load that fills the line is printed as the line rate is, to the same digits: only
            # dividing by the printed line rate makes that 100 %, as the tables have it.
            pct = pct_of_line_rate(pps, float(printed) * 1e6)
            yield Figure(
                table,
                frame_bytes,
                "pct_line_rate",
                Decimal(row["pct_line_rate"]),
                pct,
                pct_of_line_rate(low, line_pps),
                pct_of_line_rate(high, line_pps),
            )
        if row["throughput_gbps"]:
            low_gbps, gbps, high_gbps = (
                load_bps_l2(load, frame_bytes) / 1e9 for load in (low, pps, high)
            )
            yield Figure(
                table,
                frame_bytes,
                "throughput_gbps",
                Decimal(row["throughput_gbps"]),
                gbps,
                low_gbps,
                high_gbps,
            )
        if row["cycles_per_packet"]:
            hz = Decimal(row["cpu_ghz"])
            half = half_digit(hz)
            yield Figure(
                table,
                frame_bytes,
                "cycles_per_packet",
                Decimal(row["cycles_per_packet"]),
                float(hz) * 1e9 / pps,
                float(hz - half) * 1e9 / high,
                float(hz + half) * 1e9 / low,
            )


FIGURES = list(figures())
LISTED = {(e["table"], int(e["frame_bytes"]), e["column"]): e for e in exceptions()}


def name(figure: Figure) -> str:
    return "-".join(str(part) for part in figure.key)


def test_the_published_table_is_whole() -> None:
    assert len(published()) == 42
    counts = {c: sum(f.column == c for f in FIGURES) for c in {f.column for f in FIGURES}}
    assert counts == {
        "line_rate_mpps": 42,
        "pct_line_rate": 28,
        "throughput_gbps": 14,
        "cycles_per_packet": 14,
    }
    assert len(LISTED) == len(exceptions())
    assert set(LISTED) <= {f.key for f in FIGURES}


@pytest.mark.parametrize("figure", FIGURES, ids=name)
def test_a_published_figure_is_reproduced_or_listed_with_its_reason(figure: Figure) -> None:
    assert figure.reproduced != (figure.key in LISTED), f"computed {figure.computed}"


@pytest.mark.parametrize("figure", [f for f in FIGURES if f.key in LISTED], ids=name)
def test_a_listed_exception_has_the_reason_that_it_claims(figure: Figure) -> None:
    listed = LISTED[figure.key]
    assert listed["printed"] == str(figure.printed)
    assert listed["computed"] == f"{figure.computed:.4f}"
    row = next(
        r
        for r in published()
        if (r["table"], r["frame_bytes"]) == (figure.table, str(figure.frame_bytes))
    )
    if listed["reason"] == "rounded_input":
        assert figure.allowed
    elif listed["reason"] == "another_reading":
        assert not figure.allowed
        assert figure.column == "throughput_gbps"
        implied_mpps = float(figure.printed) * 1e3 / 8 / figure.frame_bytes
        assert listed["implies"] == f"{implied_mpps:.3f} Mpps"
    else:
        assert listed["reason"] == "busy_cycles_only"
        assert not figure.allowed
        used = float(figure.printed) * float(row["frame_rate_mpps"]) / float(row["cpu_ghz"]) / 10
        assert used < 100, "more cycles than the core has would be a contradiction"
        assert listed["implies"] == f"{used:.0f} % of the core"


def test_the_docs_show_every_listed_exception() -> None:
    shown = (Path(__file__).parents[2] / "docs" / "published-figures.md").read_text()
    for e in exceptions():
        cells = (e["column"], e["printed"], e["computed"])
        assert f"| {' | '.join(cells)} |" in shown
        assert f"| {e['reason']} | {e['implies']} |" in shown


@pytest.mark.parametrize("table", ["10", "13"])
def test_the_published_gbps_count_frames_with_fcs_and_without_gap(table: str) -> None:
    row = next(r for r in published() if r["table"] == table and r["frame_bytes"] == "64")
    pps, printed = float(row["frame_rate_mpps"]) * 1e6, float(row["throughput_gbps"]) * 1e9
    assert load_bps_l2(pps, 64) == pytest.approx(printed, rel=1e-4)
    assert load_bps_l1(pps, 64) != pytest.approx(printed, rel=0.3)
    assert load_bps_mbuf(pps, 64) != pytest.approx(printed, rel=0.06)


@pytest.mark.parametrize("row", published(), ids=lambda r: f"{r['table']}-{r['frame_bytes']}")
def test_no_published_frame_rate_is_above_the_line_of_its_ports(row: dict[str, str]) -> None:
    ports = PORTS.get(row["table"], 1)
    assert Decimal(row["frame_rate_mpps"]) <= ports * Decimal(row["line_rate_mpps"])


def test_line_rate_of_ten_gigabit_ethernet_is_the_textbook_one() -> None:
    # 10^10 / (8 * 84) = 14 880 952.38
    assert line_rate_pps(10**10, 64) == Fraction(10**10, 672)
    assert int(line_rate_pps(10**10, 64)) == 14_880_952


@given(
    st.integers(MIN_FRAME_BYTES, MAX_FRAME_BYTES),
    st.sampled_from([10**10, 25 * 10**9, 10**11, 4 * 10**11]),
)
def test_a_full_line_is_full_at_layer_one_and_at_100_percent(
    frame_bytes: int, link_bps: int
) -> None:
    line = line_rate_pps(link_bps, frame_bytes)
    assert line * 8 * wire_bytes(frame_bytes) == link_bps
    assert load_bps_l1(float(line), frame_bytes) == pytest.approx(link_bps, rel=1e-12)
    assert pct_of_line_rate(float(line), float(line)) == 100


@given(st.integers(MIN_FRAME_BYTES, MAX_FRAME_BYTES), st.floats(1, 1e9))
def test_the_layers_differ_by_gap_and_fcs(frame_bytes: int, pps: float) -> None:
    l1, l2 = load_bps_l1(pps, frame_bytes), load_bps_l2(pps, frame_bytes)
    assert l1 - l2 == pytest.approx(pps * 8 * 20, rel=1e-6)
    assert l2 - load_bps_mbuf(pps, frame_bytes) == pytest.approx(pps * 8 * 4, rel=1e-6)


def test_the_load_of_a_mix_counts_its_mean_bytes() -> None:
    # 791 B is the mean of 64 and 1518; 791 + 20 and 791 - 4 bytes a frame.
    assert load_bps_l1(1e6, 791.0) == 811 * 8e6
    assert load_bps_l2(1e6, 790.5) == 790.5 * 8e6
    assert load_bps_mbuf(1e6, 791.0) == 787 * 8e6
