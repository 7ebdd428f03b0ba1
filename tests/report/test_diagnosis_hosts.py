"""Answers about many hosts: one line each, exit codes, and JSON that a terminal can take."""

import json

import pytest

from wirespeed.model.finding import Diagnosis, Severity, Unanswered
from wirespeed.report.diagnosis_hosts import (
    exit_code,
    json_line,
    summary_lines,
    unanswered_lines,
)
from wirespeed.report.text_lines import columns_of

from .diagnoses import HOSTILE, diagnosis, filled_with, finding

SILENT = Unanswered(host="gamma", what="ssh.unreachable", found="connection refused")
BAD = Unanswered(host="x", what="capture.not_one", found="it is empty", bad_input=True)
NOTE = finding(severity=Severity.NOTE, prices=())


def test_hosts_are_ranked_by_what_their_worst_finding_costs():
    cheap = tuple(p.model_copy(update={"now_pps": p.after_pps * 0.9}) for p in finding().prices)
    answers = [
        diagnosis(host="good"),
        SILENT,
        diagnosis(finding(prices=cheap), host="cheap"),
        diagnosis(finding(), finding(rule="a.b"), NOTE, host="dear"),
    ]
    assert [line.text for line in summary_lines(answers)] == [
        "dear   FAULT enp59s0 reaches at most 52.0 of 98.1 Gb/s: a.b (x4 now), and 1 more",
        "cheap  FAULT enp59s0 reaches at most 88.3 of 98.1 Gb/s: PCIe link narrower than…",
        "gamma  NO ANSWER ssh.unreachable: connection refused",
        "good   good: enp59s0 52.0 to 58.0 Gb/s, bound by pcie 0000:3b:00.0",
        "4 hosts: 2 with findings, 1 without an answer",
    ]


def test_hosts_of_one_rank_stay_in_the_order_in_which_they_were_asked():
    answers = [diagnosis(finding(where=name), host=name) for name in ("h10", "h2", "h1")]
    assert [line.text[:3].strip() for line in summary_lines(answers)][:3] == ["h10", "h2", "h1"]
    alone = diagnosis(finding(where="h10", prices=()), host="h10")
    # Not the host's name once more.
    assert (
        next(summary_lines([alone])).text
        == "h10  FAULT PCIe link narrower than the card supports (x4 now)"
    )


def test_files_of_one_folder_are_told_apart_by_the_end_of_their_path():
    paths = [f"/a/very/long/path/of/folders/host-{n}.txt" for n in (1, 2)]
    lines = [line.text for line in summary_lines([diagnosis(host=path) for path in paths])]
    assert [line[:28].endswith(f"host-{n}.txt") for line, n in zip(lines, (1, 2), strict=False)]
    assert "host-1.txt  good" in lines[0]


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([diagnosis()], 0),
        ([diagnosis(NOTE)], 0),
        ([diagnosis(), diagnosis(finding(severity=Severity.CEILING))], 1),
        ([diagnosis(), SILENT], 1),
        ([diagnosis(finding()), BAD], 2),
    ],
)
def test_the_exit_code_says_how_it_is(answers: list[Diagnosis | Unanswered], code: int):
    assert exit_code(answers) == code


def test_json_is_one_line_that_gives_the_answer_back():
    for answer in (diagnosis(finding(), NOTE), SILENT, BAD):
        line = json_line(answer)
        assert type(answer).model_validate_json(line) == answer


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_a_host_printed_is_harmless(hostile: str):
    answer = filled_with(hostile)
    silent = Unanswered(host=hostile, what=hostile, found=hostile, so=hostile, next=hostile)
    for line in [*summary_lines([answer, silent]), *unanswered_lines(silent)]:
        assert line.text.isprintable()
        assert columns_of(line.text) <= 80
    line = json_line(answer)
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["host"] == hostile
