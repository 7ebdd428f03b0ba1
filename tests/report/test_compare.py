"""Two runs side by side: the ratio, and what it can be trusted for."""

import csv
import io

import pytest

from wirespeed.model.trial import Outcome, Record
from wirespeed.report.compare import build_comparison
from wirespeed.report.csv_table import render_csv
from wirespeed.report.page import Missing

from .pages import PageReader, html_of, markdown_of
from .records import end, mix, outcome, setup, trial, whole_run


def test_ratio_is_b_over_a_for_each_dut_and_size() -> None:
    page = build_comparison(whole_run(), whole_run(faster=1.25))
    assert page.comparison is not None
    assert [r.ratio for r in page.comparison.rows] == pytest.approx([1.25] * 14)
    rows = PageReader(html_of(page)).table("B / A")
    assert {r["B / A"] for r in rows} == {"1.250"}
    assert (rows[0]["DUT"], rows[0]["Frame, B"]) == ("testpmd macswap", "64")
    assert (rows[0]["A, Mpps"], rows[0]["B, Mpps"]) == ("13.471", "16.839")
    assert "| testpmd macswap | 64 | rfc2544 | 13.471 | 1 | 16.839 | 1 | 1.250 |" in (
        markdown_of(page)
    )


def test_what_single_searches_can_tell_is_both_tolerances_added() -> None:
    # (14.271 - 14.2) / 14.271 and (14.342 - 14.2) / 14.342: 0.4975 % + 0.9901 % = 1.4876 %.
    a: list[Record] = [setup(), outcome()]
    b: list[Record] = [setup(), outcome(upper_load_pps=14_342_000)]
    page = build_comparison(a, b)
    assert page.comparison is not None
    assert page.comparison.rows[0].resolution == pytest.approx(0.014876, abs=1e-6)
    (row,) = PageReader(html_of(page)).table("B / A")
    assert row["Searches can tell"] == "± 1.5 %"


def test_spread_of_repeated_searches_widens_what_they_can_tell() -> None:
    a: list[Record] = [
        setup(),
        *(outcome(throughput_pps=p * 1e6, search=n) for n, p in enumerate((14.0, 14.2, 13.8), 1)),
    ]
    page = build_comparison(a, [setup(), outcome()])
    assert page.comparison is not None
    (row,) = page.comparison.rows
    assert row.ratio == pytest.approx(14.2 / 14.0)
    # The widest bracket, (14.271 - 13.8) / 14.271, is above the spread of 0.4 / 14.0 here.
    assert row.resolution == pytest.approx(0.033004 + 0.004975, abs=1e-6)


def test_what_only_one_run_has_gets_no_ratio_but_a_reason() -> None:
    a: list[Record] = [setup(), outcome()]
    b: list[Record] = [
        setup(),
        outcome(frames=mix(128)),
        outcome(throughput_pps=None, frames=mix(256), search=2),
    ]
    page = build_comparison(a, b)
    assert page.comparison is not None
    assert all(isinstance(r.ratio, Missing) for r in page.comparison.rows)
    reader = PageReader(html_of(page))
    assert {r["B / A"] for r in reader.table("B / A")} == {"—"}
    assert "run B has no such search" in reader.text


def test_searches_without_an_upper_bound_cannot_tell() -> None:
    page = build_comparison([setup(), outcome(upper_load_pps=None)], [setup(), outcome()])
    assert page.comparison is not None
    assert isinstance(page.comparison.rows[0].resolution, Missing)
    assert "no load failed in run A" in PageReader(html_of(page)).text


def test_pacing_alone_does_not_bound_what_passed_at_the_highest_load() -> None:
    rates = (14_200_000, 14_200_050, 14_200_071)
    a: list[Record] = [
        setup(),
        *(outcome(throughput_pps=p, upper_load_pps=None, search=n) for n, p in enumerate(rates, 1)),
    ]
    page = build_comparison(a, [setup(), outcome()])
    (row,) = PageReader(html_of(page)).table("B / A")
    assert row["Searches can tell"].startswith("—")


def test_conditions_that_differ_are_listed_and_equal_ones_are_not() -> None:
    page = build_comparison([setup(), outcome()], [setup(wire="memif"), outcome()])
    assert page.comparison is not None
    assert page.comparison.differences == (
        ("settings: wire", "virtio-user to vhost-user", "memif"),
    )


def test_an_aborted_run_can_be_compared() -> None:
    page = build_comparison([setup(), outcome(), end()], [setup(), trial(1)])
    assert "B: This run was aborted" in PageReader(html_of(page)).text


def test_csv_of_two_runs_names_the_run() -> None:
    text = render_csv(build_comparison([setup(), outcome()], [setup(), outcome()]))
    assert [r["run"] for r in csv.DictReader(io.StringIO(text))] == ["A", "B"]


def test_results_of_cores_far_apart_are_named_beside_those_of_near_ones() -> None:
    far = ("tester and DUT on cores far apart: 1,274 cycles a cache line's round trip",)
    near = whole_run()
    apart = [
        record.model_copy(update={"notes": far}) if isinstance(record, Outcome) else record
        for record in whole_run()
    ]
    page = build_comparison(near, apart)
    assert page.comparison is not None
    label, a, b = page.comparison.differences[0]
    assert label.startswith("tester and DUT on cores far apart")
    assert (a, b.count(" B") > 0) == ("in no result", True)
    same = build_comparison(near, near).comparison
    assert same is not None
    assert not [d for d in same.differences if "far apart" in d[0]]
