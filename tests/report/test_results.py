"""Each figure of HTML, Markdown and CSV against values worked out by hand."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.model.error import InputError
from wirespeed.model.trial import TRIALS_ARE, Outcome, Record, Setup
from wirespeed.model.windows import Windows
from wirespeed.report.build import build_page
from wirespeed.report.csv_table import COLUMNS, render_csv
from wirespeed.report.document_markdown import escape
from wirespeed.report.page import Missing

from .pages import PageReader, html_of, markdown_of
from .records import (
    FRAME_BYTES,
    end,
    latency,
    mix,
    outcome,
    setup,
    stream,
    trial,
    whole_run,
)

LINK_BPS = 25_000_000_000


def one_result(link_bps: int | None = LINK_BPS) -> list[Record]:
    return [
        setup(["testpmd macswap"], link_bps=link_bps),
        trial(8, load_pps=14_271_000, missing=2_500),
        trial(9, load_pps=14_200_000, seconds=2, purpose="confirm", delay=latency(28_400_000)),
        outcome(),
        end(),
    ]


def csv_rows(records: list[Record]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render_csv(build_page(records)))))


# 14.2 Mpps x 64 B x 8 = 7.2704 Gb/s; x 84 B = 9.5424 Gb/s, of 25: 38.1696 %.
# Line: 25e9 / 672 = 37.202381 Mpps. Tolerance: (14.271 - 14.2) / 14.271 = 0.004975.
EXPECTED = {
    "dut": "testpmd macswap",
    "frame_bytes": "64",
    "throughput_mpps": "14.200000",
    "confirmed_seconds": "2",
    "trials_are": "continuous",
    "windows": "",
    "lost": "0",
    "limited_by": "DUT core busy",
    "method": "rfc2544",
    "line_rate_mpps": "37.202381",
    "pct_line_rate": "38.1696",
    "throughput_gbps_l1": "9.542400",
    "throughput_gbps_l2": "7.270400",
    "found_mpps": "14.200000",
    "upper_mpps": "14.271000",
    "tolerance": "0.004975",
    "goal_width": "0.005",
    "pdr_mpps": "",
    "pdr_loss_ratio": "",
    "loss_floor": "",
    "latency_ns_min": "7200",
    "latency_ns_p50": "21600",
    "latency_ns_p90": "28080",
    "latency_ns_p99": "43200",
    "latency_ns_p999": "151200",
    "latency_ns_max": "669600",
    "busy_cycles_per_packet": "147.60",
    "cycles_source": "dut",
    "core_ghz": "3.4000",
    "trials": "9",
    "invalid_trials": "0",
    "search_seconds": "8.500",
    "search": "1",
    "sent": "7135500",
    "received": "7133000",
    "unexplained": "5",
    "evidence": "cpu_run_ns 99.8 % of the trial; imissed 2,100 at port 0",
    "verdict": "width met",
    "notes": "",
    "confirmations": "1",
    "confirmed_lowest_mpps": "14.200000",
    "confirmed_highest_mpps": "14.200000",
    "recoveries": "",
    "recovery_seconds_mean": "",
    "recovery_seconds_max": "",
    "resets": "",
    "reset_seconds_mean": "",
    "reset_seconds_max": "",
    "line_offered_mpps": "",
    "line_forwarded_mpps": "",
    "line_busy_cycles_per_packet": "",
    "line_core_ghz": "",
}


def test_every_csv_figure_is_the_one_worked_out_by_hand() -> None:
    assert csv_rows(one_result()) == [EXPECTED]
    assert tuple(EXPECTED) == COLUMNS


def test_every_html_figure_is_the_one_worked_out_by_hand() -> None:
    page = PageReader(html_of(build_page(one_result())))
    assert page.table("Throughput, Mpps") == [
        {
            "Frame, B": "64",
            "Throughput, Mpps": "14.200",
            "Line rate, Mpps": "37.202",
            "% of line rate": "38.17",
            "Gb/s, L1": "9.542",
            "Gb/s, L2": "7.270",
            "Frames lost": "0",
            "Confirmed for": "2 s",
            "Busy cycles per packet": "148",
            "Core, GHz": "3.40",
            "Limited by": "DUT core busy",
        }
    ]
    assert page.table("Tolerance") == [
        {
            "Frame, B": "64",
            "Method": "rfc2544",
            "Ended by": "width met",
            "Search found, Mpps": "14.200",
            "Lowest that failed, Mpps": "14.271",
            "Tolerance": "0.50 %",
            "Goal": "0.50 %",
            "Trials": "9",
            "Invalid trials": "0",
            "Took": "8.5 s",
        }
    ]
    assert page.table("p99.9") == [
        {
            "Frame, B": "64",
            "Least": "7.20",
            "p50": "21.6",
            "p90": "28.1",
            "p99": "43.2",
            "p99.9": "151",
            "Most": "670",
            "Frames": "28,400,000",
            "Stamps": "software",
        }
    ]
    assert page.table("Evidence")[0]["Evidence"] == EXPECTED["evidence"]


def test_markdown_has_the_same_tables_as_html() -> None:
    records = whole_run(link_bps=LINK_BPS)
    shown = markdown_of(build_page(records))
    for table in PageReader(html_of(build_page(records))).tables:
        for row in table[1:]:
            first = f"| {escape(row[0])} |"
            assert any(line.startswith(first) for line in shown.splitlines()), row
    assert "| 64 | 13.471 | 37.202 | 36.21 | 9.052 | 6.897 | 0 | 2 s | 155 | 3.40 |" in shown


def test_the_headline_answers_in_one_line() -> None:
    page = build_page(one_result())
    answer = "14.2 Mpps at 64 B, zero loss in 2 s, limited by DUT core busy"
    line = "* **testpmd macswap: 14.2 Mpps at 64 B**, zero loss in 2 s; limited by DUT core busy\n"
    assert line in markdown_of(page)
    assert any(answer in title for title in PageReader(html_of(page)).titles)


def test_both_duts_have_the_seven_sizes_in_ascending_order() -> None:
    rows = csv_rows(whole_run())
    sizes = [str(b) for b in FRAME_BYTES]
    assert [r["frame_bytes"] for r in rows] == sizes * 2
    assert [r["dut"] for r in rows] == ["testpmd macswap"] * 7 + ["l3fwd lpm"] * 7


def test_no_line_is_said_and_never_a_percentage() -> None:
    page = build_page(one_result(link_bps=None))
    (row,) = PageReader(html_of(page)).table("Throughput, Mpps")
    assert row["% of line rate"] == "no line"
    assert "Line rate, Mpps" not in row
    (data,) = csv.DictReader(io.StringIO(render_csv(page)))
    assert data["pct_line_rate"] == data["line_rate_mpps"] == ""
    assert "The wire is virtual and has no line rate" in markdown_of(page)


def test_two_sending_ports_are_held_against_two_lines() -> None:
    both = (stream(1_000, 1_000, 0, 1), stream(1_000, 1_000, 1, 0))
    records: list[Record] = [setup(link_bps=LINK_BPS), trial(9, streams=both), outcome()]
    assert csv_rows(records)[0]["line_rate_mpps"] == "74.404762"
    assert csv_rows(records)[0]["pct_line_rate"] == "19.0848"


def test_a_figure_above_line_rate_is_called_a_contradiction() -> None:
    records: list[Record] = [setup(link_bps=10**9), trial(9), outcome()]
    page = PageReader(html_of(build_page(records)))
    assert "above line rate, which cannot be" in page.text


def test_a_mix_is_labelled_and_counts_its_mean_bytes() -> None:
    # 64 and 1518 B: mean 791 B, 811 B on the wire.
    records: list[Record] = [
        setup(link_bps=LINK_BPS),
        trial(9, frames=mix(64, 1518)),
        outcome(frames=mix(64, 1518)),
    ]
    (row,) = csv_rows(records)
    assert row["frame_bytes"] == "64x1+1518x1"
    assert row["throughput_gbps_l2"] == "89.857600"
    assert row["throughput_gbps_l1"] == "92.129600"


def test_an_unproven_result_has_no_figure_but_a_reason() -> None:
    floor = outcome(throughput_pps=None, upper_load_pps=1_000, loss_floor=1e-6)
    records: list[Record] = [setup(), trial(1, missing=3), floor]
    (row,) = csv_rows(records)
    empty = ("throughput_mpps", "confirmed_seconds", "throughput_gbps_l1", "latency_ns_p50")
    assert {row[c] for c in empty} == {""}
    assert row["lost"] == "17"
    page = PageReader(html_of(build_page(records)))
    assert page.table("Throughput, Mpps")[0]["Throughput, Mpps"] == "not proven"
    assert "a loss floor of 0.00010 % that no load removed" in page.text
    assert "0.000" not in page.table("Throughput, Mpps")[0].values()


def test_what_was_not_read_is_not_zero() -> None:
    records: list[Record] = [
        setup(),
        outcome(busy_cycles_per_packet=None, cycles_source=None, core_hz=None, upper_load_pps=None),
    ]
    page = PageReader(html_of(build_page(records)))
    (row,) = page.table("Throughput, Mpps")
    assert row["Busy cycles per packet"] == row["Core, GHz"] == "cannot tell"
    assert "the DUT's cycles per packet were not measured" in page.text
    assert page.table("p99.9")[0]["Least"] == "cannot tell"
    assert "its confirming trial, number 9, is not in the record" in page.text
    assert page.table("Tolerance")[0]["Lowest that failed, Mpps"] == "none failed"
    (data,) = csv_rows(records)
    assert {
        data[c] for c in ("busy_cycles_per_packet", "cycles_source", "core_ghz", "tolerance")
    } == {""}


def test_what_a_search_had_to_say_is_told_with_its_verdict() -> None:
    said = ("trial 4 lost 1 frame; 3 repeats lost none", "stopped after max_trials = 40")
    records: list[Record] = [setup(), outcome(verdict="trials exhausted", notes=said)]
    page = PageReader(html_of(build_page(records)))
    assert page.table("Tolerance")[0]["Ended by"] == "trials exhausted"
    assert "; ".join(said) in page.text
    assert csv_rows(records)[0]["notes"] == "; ".join(said)


def test_partial_drop_stands_beside_its_loss_ratio_and_apart_from_throughput() -> None:
    records: list[Record] = [setup(), outcome(pdr_load_pps=15_000_000, pdr_loss_ratio=0.005)]
    (row,) = PageReader(html_of(build_page(records))).table("PDR load, Mpps")
    assert row == {"Frame, B": "64", "PDR load, Mpps": "15.000", "At a loss ratio of": "0.50 %"}


def test_repeated_searches_show_their_number_and_spread() -> None:
    found = (14_000_000, 14_300_000, 14_100_000)
    records: list[Record] = [
        setup(),
        *(outcome(throughput_pps=f, search=n) for n, f in enumerate(found, 1)),
    ]
    page = PageReader(html_of(build_page(records)))
    (answer,) = page.table("Throughput, Mpps")
    assert (answer["Frame, B"], answer["Throughput, Mpps"]) == ("64", "14.100")
    assert answer["Lowest to highest"] == "14.000 to 14.300 (n 3)"
    labels = [r["Frame, B"] for r in page.table("Tolerance")]
    assert labels == ["64 (1 of 3)", "64 (2 of 3)", "64 (3 of 3)"]
    assert "median of 3 of 3 searches, 14.000 to 14.300 Mpps" in page.text


def test_trials_go_to_the_outcome_of_their_search() -> None:
    trials = [trial(1), trial(2, search=2), trial(3), trial(4, search=2), trial(5, search=3)]
    records: list[Record] = [setup(planned=3), *trials, outcome(search=2), outcome()]
    (dut,) = (d for d in build_page(records).runs[0].duts if d.results)
    assert [[t.number for t in r.trials] for r in dut.results] == [[1, 3], [2, 4]]
    assert [[t.number for t in u.trials] for u in dut.unfinished] == [[5]]


@pytest.mark.parametrize(
    "records",
    [
        [setup(), trial(1), outcome(frames=mix(128))],
        [setup(), trial(1), trial(2, dut="l3fwd lpm")],
        [setup(), trial(1), outcome(), outcome()],
    ],
)
def test_a_search_that_contradicts_itself_is_refused(records: list[Record]) -> None:
    with pytest.raises(InputError) as refused:
        build_page(records)
    assert refused.value.what == "report.search_contradicts_itself"


def test_cycles_at_overload_are_told_apart_from_the_duts_own() -> None:
    told = "at the overloaded forwarding rate"
    for source, expected in (("overload", True), ("dut", False)):
        records: list[Record] = [setup(), outcome(cycles_source=source)]
        page = PageReader(html_of(build_page(records)))
        assert page.table("Throughput, Mpps")[0]["Busy cycles per packet"] == "148"
        assert (told in page.text) == expected
        assert csv_rows(records)[0]["cycles_source"] == source


def test_records_without_a_setup_are_refused() -> None:
    with pytest.raises(InputError) as refused:
        build_page([trial(1)])
    assert refused.value.what == "report.no_setup"


@given(
    throughput=st.floats(1, 5e8),
    above=st.floats(1e-6, 0.5),
    frame_bytes=st.integers(64, 9600),
)
def test_the_figures_of_any_result_agree_with_one_another(
    throughput: float, above: float, frame_bytes: int
) -> None:
    frames = mix(frame_bytes)
    upper = throughput * (1 + above)
    records: list[Record] = [
        setup(link_bps=LINK_BPS),
        trial(9, frames=frames),
        outcome(frames=frames, throughput_pps=throughput, upper_load_pps=upper),
    ]
    (result,) = build_page(records).runs[0].duts[0].results
    assert not isinstance(result.pct_line_rate, Missing)
    assert not isinstance(result.throughput_bps_l1, Missing)
    assert not isinstance(result.throughput_bps_l2, Missing)
    share = result.throughput_bps_l1 / LINK_BPS * 100
    assert result.pct_line_rate == pytest.approx(share, rel=1e-9)
    gap = result.throughput_bps_l1 - result.throughput_bps_l2
    assert gap == pytest.approx(throughput * 160, rel=1e-6)
    assert result.tolerance == pytest.approx(above / (1 + above), rel=1e-6)


def windowed_records() -> list[Record]:
    """The one result, of a run whose trials were windowed."""
    windows = Windows(
        window_seconds=0.025,
        valid=80,
        void=3,
        void_reasons={"tester.stalled_often": 3},
        valid_seconds=2.0,
        seconds=2.11,
        drain_seconds=0.01,
        late_frames=0,
        void_offered_frames=1000,
        void_missing_frames=7,
    )
    made: list[Record] = []
    for record in one_result():
        if isinstance(record, Setup):
            settings = {**record.settings, TRIALS_ARE: "windowed, 3 to 25 ms a window"}
            made.append(record.model_copy(update={"settings": settings}))
        elif isinstance(record, Outcome):
            made.append(record.model_copy(update={"windows": windows}))
        else:
            made.append(record)
    return made


def test_a_windowed_throughput_is_not_called_rfc2544s_and_shows_its_windows() -> None:
    said = "windowed: 2.00 s valid of 2.11 s, 83 windows, 3 void (tester.stalled_often 3)"
    records = windowed_records()
    (row,) = csv_rows(records)
    assert (row["trials_are"], row["windows"]) == ("windowed", said)
    for page in (html_of(build_page(records)), markdown_of(build_page(records))):
        assert said.partition(" (")[0] in page
        assert "Windowed throughput" in page
        assert "That is not RFC 2544" in page
    assert "zero loss only (RFC 2544" not in html_of(build_page(records))
    assert "zero loss only (RFC 2544" in html_of(build_page(one_result()))
    assert "Windowed" not in html_of(build_page(one_result()))
