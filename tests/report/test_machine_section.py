"""What bounds the measurements of a run, as its page says it."""

from pathlib import Path

import pytest

from wirespeed.model.finding import Diagnosis, Severity, Unanswered
from wirespeed.model.trial import Record, Setup
from wirespeed.report.build import build_page
from wirespeed.report.diagnosis_hosts import json_line
from wirespeed.runs.run_pages import FINDINGS, read_answer

from .diagnoses import HOSTILE, diagnosis, filled_with, finding, verdict
from .pages import PageReader, html_of, markdown_of
from .records import whole_run

HOST_FINDING = finding(
    rule="memory.no_hugepages", where="here", severity=Severity.RISK, prices=(), unpriced="rare"
)


def run_over(wire: str) -> list[Record]:
    return [
        r.model_copy(update={"settings": {**r.settings, "wire": wire}})
        if isinstance(r, Setup)
        else r
        for r in whole_run()
    ]


def answer() -> Diagnosis:
    return diagnosis(finding(), HOST_FINDING, host="here", verdicts=(verdict(),))


def test_over_a_wire_in_memory_findings_about_ports_do_not_count():
    machine = build_page(run_over("vhost"), answer()).machine
    assert machine is not None
    assert machine.findings == (HOST_FINDING,)
    assert machine.aside == (finding(),)
    assert "no card" in machine.about


def test_through_ports_every_finding_counts():
    machine = build_page(run_over("0000:3b:00.0: frames to x, back y"), answer()).machine
    assert machine is not None
    assert machine.findings == (finding(), HOST_FINDING)
    assert machine.aside == ()


def test_the_page_says_what_the_results_were_limited_by_and_what_the_doctor_found():
    page = build_page(run_over("memif"), answer())
    text = " ".join(PageReader(html_of(page)).text.split())
    markdown = markdown_of(page)
    for words in (
        "What bounds these measurements here", "no card, cable or PCI Express slot",
        "1 found that may bear upon these measurements",
    ):  # fmt: skip
        assert words in text
        assert words in markdown
    for words in (
        "memory.no_hugepages", "1 condition could not be determined", "ethtool -g enp59s0",
        "Found of ports that these measurements did not use 1",
    ):  # fmt: skip
        assert words in text
    results = sum(len(dut.results) for dut in page.runs[0].duts)
    assert page.machine is not None
    counted = [int(word) for line in page.machine.limits for word in line.split() if word.isdigit()]
    # `A in 6 of 7 results, B in 1`: what is counted of each DUT is all of its results.
    assert sum(counted) == 2 * results


def test_a_run_that_did_not_ask_the_doctor_has_no_such_section():
    page = build_page(whole_run())
    assert page.machine is None
    assert 'id="machine"' not in html_of(page)
    assert "What bounds" not in markdown_of(page)


def test_an_answer_that_is_missing_says_why():
    silent = Unanswered(host="here", what="host.no_answer", found="no shell")
    page = build_page(whole_run(), silent)
    for shown in (html_of(page), markdown_of(page)):
        assert "The doctor gave no answer: host.no" in shown
        assert "no shell" in shown


def test_findings_are_read_back_and_a_damaged_file_does_not_take_the_report_with_it(
    tmp_path: Path,
):
    assert read_answer(tmp_path) is None
    (tmp_path / FINDINGS).write_text(json_line(answer()) + "\n")
    assert read_answer(tmp_path) == answer()
    (tmp_path / FINDINGS).write_text('{"host": "here", "found')
    damaged = read_answer(tmp_path)
    assert isinstance(damaged, Unanswered)
    assert damaged.what == "findings.not_readable"


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_a_host_printed_is_text(hostile: str):
    page = build_page(whole_run(), filled_with(hostile))
    reader = PageReader(html_of(page))
    assert not {"script", "img"} & set(reader.tags)
    markdown = markdown_of(page)
    assert "<script" not in markdown
    assert all(c.isprintable() or c == "\n" for c in markdown)
