"""A run beside a published test: the report's own figures, and what keeps the two apart."""

import csv
import io
import shutil
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

from wirespeed.model.error import InputError
from wirespeed.model.spread import Confirmations
from wirespeed.model.trial import Outcome, Record
from wirespeed.report.beside_published import with_published
from wirespeed.report.build import build_page
from wirespeed.report.document_html import render_html
from wirespeed.report.document_markdown import render_markdown
from wirespeed.report.page_document import page_document
from wirespeed.report.proof_csv import render_proof_csv
from wirespeed.report.published_report import published_test, published_tests

from .conftest import Call
from .pages import PageReader
from .proofs import proof
from .records import FRAME_BYTES, end, mix, outcome, setup, stream, trial

REPORT = Path("src/wirespeed/report/published/dpdk-19.08-report.csv")
HEADINGS = ("Run, Mpps", "Published, Mpps", "Run / published")
PRINTED: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
for _row in csv.DictReader(REPORT.read_text().splitlines()):
    PRINTED[_row["test"]][_row["frame_bytes"]] = _row
GBPS = 10**9


def run(
    link_bps: int | None = 100 * GBPS,
    sizes: tuple[int, ...] = FRAME_BYTES,
    pps: int = 1_000_000,
    ports: int = 1,
) -> list[Record]:
    """One DUT with the same throughput at every size, sent from so many ports."""
    made: list[Record] = [setup(duts=["l3fwd"], link_bps=link_bps, planned=len(sizes))]
    for search, size in enumerate(sizes, 1):
        streams = tuple(stream(pps // ports, pps // ports, tx_port=port) for port in range(ports))
        made += [
            trial(search, "l3fwd", mix(size), pps, 1, streams=streams, search=search),
            outcome("l3fwd", mix(size), pps, search=search, confirmed_trial=search),
        ]
    return [*made, end()]


def beside(number: int, records: list[Record]) -> tuple[PageReader, str]:
    page = build_page(records)
    document = with_published(
        page_document(page), page.runs[0], published_test(f"published:{number}")
    )
    return PageReader(render_html(document)), " ".join(render_markdown(document).split())


def half_up(value: Decimal, digits: str) -> str:
    return str(value.quantize(Decimal(digits), rounding=ROUND_HALF_UP))


@pytest.mark.parametrize("number", range(1, 7))
def test_each_size_stands_beside_its_printed_figure(number: int) -> None:
    rows = beside(number, run())[0].table(*HEADINGS)
    printed = PRINTED[str(number)]
    assert [row["Frame, B"] for row in rows] == list(printed) == [str(b) for b in FRAME_BYTES]
    for row in rows:
        said = printed[row["Frame, B"]]
        assert (row["Run, Mpps"], row["Published, Mpps"]) == ("1.000", said["frame_rate_mpps"])
        assert row["Run / published"] == half_up(1 / Decimal(said["frame_rate_mpps"]), "0.001")
        wire_bits = 8 * (int(row["Frame, B"]) + 20)
        assert row["Run, % of line rate"] == half_up(Decimal(wire_bits) / 1000, "0.01")


def test_a_printed_part_of_the_line_is_printed_and_a_missing_one_is_computed() -> None:
    for number in range(1, 7):
        page, words = beside(number, run())
        for row in page.table(*HEADINGS):
            said = PRINTED[str(number)][row["Frame, B"]]
            part = said["pct_line_rate"]
            if not part:
                # Test 3 prints the line rate of one of its two ports.
                ports = 2 if number == 3 else 1
                line = ports * Decimal(said["line_rate_mpps"])
                part = half_up(100 * Decimal(said["frame_rate_mpps"]) / line, "0.01")
            assert row["Published, % of line rate"] == part
        assert ("computed: the printed frame rate" in words) == (number in (3, 4))


def test_sizes_that_one_of_the_two_lacks_are_said() -> None:
    page, words = beside(2, run(sizes=(64, 300, 1518)))
    rows = {row["Frame, B"]: row for row in page.table(*HEADINGS)}
    assert [row["Published, Mpps"] for row in rows.values()][:3] == ["148.66", "—", "8.13"]
    assert {rows[str(size)]["Run, Mpps"] for size in (128, 256, 512, 1024, 1280)} == {"—"}
    assert rows["300"]["Run / published"] == rows["128"]["Run / published"] == "—"
    assert "the run has no result of: 128, 256, 512, 1024, 1280." in words
    assert "the published test lacks: 300." in words
    assert "has no result of" not in beside(2, run())[1]
    assert "test lacks" not in beside(2, run())[1]


def test_another_link_speed_is_said() -> None:
    said = "Another link speed: the run's ports are of 40 Gb/s, the published test has ports of 25"
    assert said in beside(1, run(link_bps=40 * GBPS))[1]
    assert "has no line rate" in beside(1, run(link_bps=None))[1]
    same = beside(2, run())[1]
    assert "Another" not in same and "has no line rate" not in same


def test_another_number_of_ports_is_said() -> None:
    assert "Another number of ports" in beside(3, run())[1]
    assert "Another number of ports" not in beside(3, run(ports=2))[1]
    assert "Another number of ports" not in beside(1, run(25 * GBPS, ports=2))[1]
    assert "Another number of ports" in beside(2, run(ports=2))[1]


def test_a_rate_of_one_core_under_a_full_line_is_not_taken_for_zero_loss() -> None:
    said = {number: "not like for like" in beside(number, run())[1] for number in range(1, 7)}
    assert [number for number in said if said[number]] == [3, 4]


def test_of_a_single_core_test_the_average_at_line_rate_is_compared_where_there_is_one() -> None:
    records = run(pps=2_000_000, ports=2, sizes=(64, 128))
    streams = tuple(stream(50_000_000, 10_000_000, tx_port=port) for port in range(2))
    line = trial(9, "l3fwd", mix(64), 1e8, 1, purpose="line", streams=streams, search=1)
    page, said = beside(3, [*records, line])
    assert "not like for like" not in said
    rows = page.table("Run, zero loss, Mpps", "Average / published")
    of_64 = next(row for row in rows if row["Frame, B"] == "64")
    # 20 Mpps came back of 100; at 128 bytes there is no such trial, and so no ratio.
    assert of_64["Run at line rate, average, Mpps"] == "20.000"
    assert of_64["Run, zero loss, Mpps"] == "2.000"
    ratio = Decimal(20) / Decimal(PRINTED["3"]["64"]["frame_rate_mpps"])
    assert of_64["Average / published"] == half_up(ratio, "0.001")
    of_128 = next(row for row in rows if row["Frame, B"] == "128")
    assert of_128["Average / published"] == "—"
    assert "Run, Mpps" in beside(2, [*records, line])[1], "other tests are of zero loss"


def test_an_unproven_result_has_no_ratio() -> None:
    records = [setup(["l3fwd"], 100 * GBPS), outcome("l3fwd", throughput_pps=None), end()]
    row = beside(2, records)[0].table(*HEADINGS)[0]
    assert (row["Run, Mpps"], row["Run / published"]) == ("not proven", "—")


def test_of_a_repeated_search_the_median_stands_there() -> None:
    records: list[Record] = [setup(["l3fwd"], 100 * GBPS, planned=3)]
    for search, pps in enumerate((10_000_000, 74_330_000, 90_000_000), 1):
        records.append(outcome("l3fwd", throughput_pps=pps, search=search))
    row = beside(2, [*records, end()])[0].table(*HEADINGS)[0]
    # 74.33 / 148.66
    assert (row["Run, Mpps"], row["Run / published"]) == ("74.330", "0.500")


def test_ports_of_each_test_make_the_line_that_is_printed() -> None:
    for test in published_tests():
        gbps = {row["line_rate_gbps"] for row in PRINTED[str(test.number)].values()}
        ports = 1 if test.number == 3 else test.ports  # it prints the line rate of one
        assert gbps == {str(ports * test.port_gbps)}
        assert {row["table"] for row in PRINTED[str(test.number)].values()} == {str(test.table)}


@pytest.mark.parametrize("name", ["published:7", "published:", "published:01", "2", "build/run"])
def test_an_unknown_number_is_told_all_six(name: str) -> None:
    with pytest.raises(InputError) as error:
        published_test(name)
    assert (error.value.what, error.value.where) == ("report.no_such_test", f"--beside {name}")
    for number in range(1, 7):
        title = published_test(f"published:{number}").title
        assert f"published:{number} is {title}" in error.value.next


def test_the_command_writes_it_and_refuses_what_has_no_results(tmp_path: Path, call: Call) -> None:
    lines = [record.model_dump_json() for record in run()]
    (tmp_path / "trials.jsonl").write_text("\n".join(lines) + "\n")
    assert call("report", tmp_path, "--beside", "published:6")[0] == 0
    page = PageReader((tmp_path / "report.html").read_text())
    assert page.table(*HEADINGS)[0]["Published, Mpps"] == "148.23"
    assert "148.23" in (tmp_path / "report.md").read_text()
    assert call("report", tmp_path)[0] == 0
    assert "148.23" not in (tmp_path / "report.md").read_text()
    code, _, err = call("report", tmp_path, "--beside", "published:7")
    assert code == 2 and "published:6 is one port of 100 Gb/s by a VF" in " ".join(err.split())
    code, _, err = call("report", tmp_path, "--beside", "published:6", "--against", tmp_path)
    assert code == 2 and "leave --against out" in " ".join(err.split())


def test_a_proof_is_laid_beside_it_when_it_has_results_of_rfc_2544(
    tmp_path: Path, call: Call
) -> None:
    folder = tmp_path / "proof"
    shutil.copytree("tests/kept/proof", folder)
    for one in (folder, *folder.iterdir()):
        one.chmod(0o700 if one.is_dir() else 0o600)
    before = (folder / "report.html").read_bytes()
    code, _, err = call("report", folder, "--beside", "published:6")
    assert code == 2 and "report.no_bench" in err
    assert (folder / "report.html").read_bytes() == before
    lines = [record.model_dump_json() for record in run()]
    (folder / "trials.jsonl").write_text("\n".join(lines) + "\n")
    assert call("report", folder, "--beside", "published:6")[0] == 0
    page = PageReader((folder / "report.html").read_text())
    assert page.table(*HEADINGS)[0]["Published, Mpps"] == "148.23"
    assert "published" in page.ids


def test_the_n_of_a_rate_is_that_of_the_trials_that_confirmed_it() -> None:
    thrice = Confirmations(trials=3, lowest_pps=14.2e6, highest_pps=14.21e6)
    found = (
        outcome(frames=mix(64), confirmations=thrice),
        outcome(frames=mix(128), search=2),
        outcome(frames=mix(256), search=3, throughput_pps=None),
    )
    made = proof(bench=(setup(planned=3), *found))
    rows = csv.DictReader(io.StringIO(render_proof_csv(made)))
    rates = [row["n"] for row in rows if "zero-loss" in row["figure"]]
    assert rates == ["3", "1", "0"]


def test_the_figures_of_a_bench_are_in_the_csv_of_its_proof(tmp_path: Path, call: Call) -> None:
    folder = tmp_path / "proof"
    shutil.copytree("tests/kept/proof", folder)
    for one in (folder, *folder.iterdir()):
        one.chmod(0o700 if one.is_dir() else 0o600)
    records = run()
    lines = [record.model_dump_json() for record in records]
    (folder / "trials.jsonl").write_text("\n".join(lines) + "\n")
    assert call("report", folder)[0] == 0
    outcomes = [record for record in records if isinstance(record, Outcome)]
    rows = csv.DictReader(io.StringIO((folder / "results.csv").read_text()))
    rates = {row["figure"]: row for row in rows if "zero-loss" in row["figure"]}
    for found in outcomes:
        row = rates[f"rfc2544/{found.mix.label} zero-loss rate, {found.dut}"]
        proven = found.throughput_pps
        assert row["median"] == ("" if proven is None else f"{proven / 1e6:.6g}")
        assert (row["unit"], row["source"]) == ("Mpps", "this run")
    bench = list(csv.DictReader(io.StringIO((folder / "rfc2544.csv").read_text())))
    assert [row["frame_bytes"] for row in bench] == [found.mix.label for found in outcomes]
