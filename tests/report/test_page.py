"""The page as a file: offline, safe, whole, and honest about what is missing from the run."""

import csv
import io
import re

import pytest

from wirespeed.model.port_statistics import PortStatistics
from wirespeed.model.trial import Fate, Ledger, Record, record_adapter
from wirespeed.report.build import build_page
from wirespeed.report.compare import build_comparison
from wirespeed.report.csv_table import render_csv
from wirespeed.report.page import Page

from .pages import PageReader, html_of, markdown_of
from .records import end, mix, outcome, setup, trial, whole_run

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=y>|`*_&amp;"


def number(text: str) -> int:
    return int(text.replace(",", ""))


def pages() -> dict[str, Page]:
    run = whole_run(link_bps=25_000_000_000)
    return {
        "whole": build_page(run),
        "aborted": build_page(run[:60]),
        "compared": build_comparison(run, whole_run(faster=1.07)),
        "bare": build_page([setup()]),
    }


@pytest.mark.parametrize("page", pages().values(), ids=pages().keys())
def test_html_loads_nothing_from_elsewhere(page: Page) -> None:
    html = html_of(page)
    reader = PageReader(html)
    assert [link for link in reader.links if not link[2].startswith("#")] == []
    assert {href[1:] for _, _, href in reader.links} <= set(reader.ids)
    assert not {"script", "link", "img", "iframe", "object", "embed", "base"} & set(reader.tags)
    assert not re.search(r"url\(|@import|https?:", html)
    assert len(reader.ids) == len(set(reader.ids))


def test_paper_shows_what_a_screen_folds() -> None:
    """A page runs nothing, so its style sheet has to unfold lists for printing."""
    html = html_of(pages()["whole"])
    assert "<details><summary>" in html
    printed = html.partition("@media print {")[2].partition("</style>")[0]
    assert "details::details-content { content-visibility: visible; block-size: auto; }" in printed


def test_names_from_outside_are_text_and_never_markup() -> None:
    records: list[Record] = [
        setup([HOSTILE], link_bps=10**10).model_copy(update={"machine": {HOSTILE: HOSTILE}}),
        trial(8, dut=HOSTILE, missing=4, invalid=(HOSTILE,)),
        trial(9, dut=HOSTILE),
        outcome(
            dut=HOSTILE,
            ledger=Ledger(
                offered_frames=10,
                received_frames=9,
                lost=(Fate(place=HOSTILE, frames=1, counter=HOSTILE),),
                unexplained_frames=0,
            ),
        ),
        trial(10, dut=HOSTILE, frames=mix(128), search=2),
    ]
    for page in (build_page(records), build_comparison(records, records)):
        reader = PageReader(html_of(page))
        assert not {"script", "img"} & set(reader.tags)
        assert HOSTILE in reader.text
        shown = markdown_of(page)
        assert "<script" not in shown
        assert "<img" not in shown
    (row,) = csv.DictReader(io.StringIO(render_csv(build_page(records))))
    assert row["dut"] == HOSTILE


def test_a_formula_in_a_name_stays_text_in_a_spreadsheet() -> None:
    records: list[Record] = [setup(["=cmd()"]), outcome(dut="=cmd()")]
    (row,) = csv.DictReader(io.StringIO(render_csv(build_page(records))))
    assert row["dut"] == "'=cmd()"


def test_every_ledger_row_adds_up_on_the_page() -> None:
    rows = PageReader(html_of(build_page(whole_run()))).table("Sent", "= Received")
    assert len(rows) == 14
    for row in rows:
        parts = [number(v) for k, v in row.items() if k.startswith(("=", "+"))]
        assert number(row["Sent"]) == sum(parts)


def test_a_negative_unexplained_is_shown_and_added() -> None:
    ledger = Ledger(
        offered_frames=1_000,
        received_frames=990,
        lost=(Fate(place="DUT transmit", frames=13, counter="tx_dropped"),),
        unexplained_frames=-3,
    )
    records: list[Record] = [setup(), outcome(ledger=ledger)]
    (row,) = PageReader(html_of(build_page(records))).table("Sent")
    assert (row["+ DUT transmit"], row["+ Unexplained"]) == ("13", "-3")


def test_two_counters_of_one_place_keep_both_figures() -> None:
    fates = tuple(Fate(place="wire", frames=n, counter=f"counter {n}") for n in (3, 4))
    ledger = Ledger(offered_frames=10, received_frames=3, lost=fates, unexplained_frames=0)
    page = PageReader(html_of(build_page([setup(), outcome(ledger=ledger)])))
    assert page.table("Sent")[0]["+ wire"] == "3 + 4"
    assert "wire: counter 3" in page.text
    assert "wire: counter 4" in page.text


def test_what_the_duts_driver_counted_of_a_loss_stands_under_the_ledger() -> None:
    said = PortStatistics(port=1, rose={"rx_out_of_buffer": 7, "rx_q0_packets": 993})
    ledger = Ledger(
        offered_frames=1_000,
        received_frames=993,
        lost=(Fate(place="DUT receive queue", frames=7, counter="imissed"),),
        unexplained_frames=0,
        dut_statistics=(PortStatistics(port=0, rose={"rx_q0_packets": 7}), said),
    )
    page = PageReader(html_of(build_page([setup(), outcome(ledger=ledger)])))
    assert "DUT's driver counted at port 1: rx_out_of_buffer 7" in page.text
    assert "rx_q0_packets" not in page.text


def test_every_trial_is_listed_and_the_invalid_ones_with_reasons() -> None:
    records = whole_run()
    page = build_page(records)
    rows = PageReader(html_of(page)).table("Verdict on the tester")
    numbers = [r.number for r in records if r.kind == "trial"]
    assert sorted(int(r["Trial"]) for r in rows) == numbers
    invalid = [r for r in rows if r["Verdict on the tester"] != "valid"]
    assert len(invalid) == 14
    assert "loop stood still for 3.0 ms" in invalid[0]["Verdict on the tester"]
    assert markdown_of(page).count("loop stood still") == 14


def test_nothing_sent_is_never_lossless() -> None:
    silent = trial(1).model_copy(
        update={"streams": tuple(s.model_copy(update=ZERO) for s in trial(1).streams)}
    )
    (row,) = PageReader(html_of(build_page([setup(), silent, outcome()]))).table("Loss ratio")
    assert row["Loss ratio"] == "nothing sent"


ZERO = {"offered_frames": 0, "in_order_frames": 0}


def test_hovering_tells_each_trial_and_each_bar() -> None:
    titles = PageReader(html_of(build_page(whole_run(link_bps=25_000_000_000)))).titles
    told = [t for t in titles if t.startswith("trial ")]
    assert len(told) == 14 * 11
    assert "line rate, 64 B: 37.202 Mpps" in titles
    assert "testpmd macswap, 64 B: 13.471 Mpps; limited by DUT core busy" in titles


def repeated(times: int, proven: bool = True) -> list[Record]:
    made: list[Record] = [setup(["testpmd macswap"], planned=times)]
    for n in range(1, times + 1):
        pps = 14e6 + n * 1e4 if proven else None
        made += [
            trial(n, search=n),
            outcome(search=n, throughput_pps=pps, confirmed_trial=n if proven else None),
        ]
    return [*made, end()]


def drawn_searches(records: list[Record]) -> list[str]:
    html = html_of(build_page(records))
    return re.findall(r'aria-label="The search: ([^"]*)"', html)


def test_of_many_repeats_only_the_median_search_is_drawn() -> None:
    three = [f"testpmd macswap, 64 B, search {n} of 3" for n in (1, 2, 3)]
    assert drawn_searches(repeated(3)) == three
    assert drawn_searches(repeated(5)) == ["testpmd macswap, 64 B, search 3 of 5: the median"]
    assert drawn_searches(repeated(5, proven=False)) == [
        "testpmd macswap, 64 B, search 5 of 5: the last"
    ]
    page = PageReader(html_of(build_page(repeated(5))))
    assert len(page.table("Verdict on the tester")) == 5
    assert len([t for t in page.titles if t.startswith("64 B: p50 ")]) == 1


@pytest.mark.parametrize(("sizes", "folded"), [(14, False), (15, True)])
def test_more_than_fourteen_drawings_are_folded_away(sizes: int, folded: bool) -> None:
    records: list[Record] = [setup(planned=sizes)]
    for n in range(1, sizes + 1):
        frames = mix(64 + n)
        records += [trial(n, search=n, frames=frames), outcome(search=n, frames=frames)]
    html = html_of(build_page(records))
    assert html.count('aria-label="The search:') == sizes
    assert (f"<summary>{sizes} searches</summary>" in html) == folded


def test_short_trials_say_so_and_what_the_full_method_takes() -> None:
    text = PageReader(html_of(build_page([setup(), outcome()]))).text
    assert "Trials were short: 0.5 s to search, 2 s to confirm." in text
    assert "would take about 1 h 52 min" in text
    full = setup(trial_seconds=60, confirm_seconds=60)
    text = PageReader(html_of(build_page([full, outcome()]))).text
    assert "Trials were short" not in text


def test_an_aborted_run_says_where_it_stopped_and_claims_nothing() -> None:
    cut: list[Record] = [
        setup(planned=4),
        trial(1),
        trial(2, frames=mix(128), search=2),
        end("Ctrl-C"),
    ]
    page = build_page(cut)
    for text in (PageReader(html_of(page)).text, markdown_of(page)):
        assert "This run was aborted: Ctrl-C; 0 of 4 planned searches came to an outcome." in text
        assert "no throughput is claimed" in text
        assert "Zero-loss throughput (aborted)" in text
    assert 'class="verdict alarm">Aborted<' in html_of(page)
    reader = PageReader(html_of(page))
    assert "No search came to a result." in reader.text
    assert "testpmd macswap at 64 B (1 trial), testpmd macswap at 128 B (1 trial)" in reader.text
    assert "Set up and never measured: l3fwd lpm." in reader.text
    assert len(reader.table("Verdict on the tester")) == 2
    assert render_csv(page).count("\n") == 1


def test_a_run_is_whole_only_with_all_its_outcomes_and_its_end() -> None:
    whole: list[Record] = [setup(), trial(1), outcome(), end()]
    assert not build_page(whole).runs[0].aborted
    assert "aborted" not in markdown_of(build_page(whole))
    assert "aborted" not in html_of(build_page(whole))
    killed = markdown_of(build_page(whole[:-1]))
    assert "no closing record, so it was killed or still goes on; 1 of 1 planned" in killed
    fewer = [setup(planned=2), *whole[1:]]
    assert "aborted: 1 of 2 planned searches came" in markdown_of(build_page(fewer))


def test_a_resumed_run_is_judged_by_its_last_end() -> None:
    first: list[Record] = [setup(planned=2), trial(1), outcome(), end("Ctrl-C")]
    again = [*first, setup(planned=2), trial(2, search=2), outcome(search=2)]
    assert "no closing record" in markdown_of(build_page(again))
    assert not build_page([*again, end()]).runs[0].aborted


def test_a_resumed_run_says_so() -> None:
    changed = setup().model_copy(update={"machine": {"CPU": "another"}})
    later = setup().model_copy(update={"started_at": "2024-11-22T08:00:00Z"})
    assert "resumed 1 time(s)." in markdown_of(build_page([setup(), later, outcome()]))
    assert "that had changed" in markdown_of(build_page([setup(), changed, outcome()]))


def test_the_record_file_is_enough_to_make_the_page_again() -> None:
    records = whole_run(link_bps=25_000_000_000)
    lines = [r.model_dump_json() for r in records]
    again = [record_adapter.validate_json(line) for line in lines]
    assert html_of(build_page(again)) == html_of(build_page(records))
