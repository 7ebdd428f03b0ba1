"""`wirespeed report --pdf`: every page that it writes goes to the browser that stands in PATH."""

import os
import shutil
from pathlib import Path

import pytest

from .conftest import Call
from .records import whole_run

BROWSER = """#!/bin/sh
for word; do
  case $word in --print-to-pdf=*) pdf=${word#*=};; file://*) page=${word#file://};; esac
done
{ printf '%%PDF-'; cat "$page"; } > "$pdf"
"""


@pytest.fixture(name="run_folder")
def _run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    programs, folder = tmp_path / "programs", tmp_path / "run"
    programs.mkdir()
    folder.mkdir()
    (programs / "chromium").write_text(BROWSER)
    (programs / "chromium").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    lines = [record.model_dump_json() for record in whole_run()]
    (folder / "trials.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_the_page_of_a_run_is_printed_as_it_was_written(run_folder: Path, call: Call):
    pdf = run_folder / "card.pdf"
    code, out, _ = call("report", run_folder, "--beside", "published:2", "--pdf", pdf)
    assert code == 0 and f"pdf: {pdf}" in out
    assert pdf.read_bytes() == b"%PDF-" + (run_folder / "report.html").read_bytes()
    assert b"148.66" in pdf.read_bytes()


def test_two_runs_are_printed_side_by_side(run_folder: Path, call: Call):
    pdf = run_folder / "both.pdf"
    assert call("report", run_folder, "--against", run_folder, "--pdf", pdf)[0] == 0
    assert pdf.read_bytes() == b"%PDF-" + (run_folder / "comparison.html").read_bytes()


def test_the_page_of_a_proof_is_printed_for_its_owner_alone(run_folder: Path, call: Call):
    proof, pdf = run_folder.with_name("proof"), run_folder / "proof.pdf"
    shutil.copytree("tests/kept/proof", proof)
    for one in (proof, *proof.iterdir()):
        one.chmod(0o700 if one.is_dir() else 0o600)
    assert call("report", proof, "--pdf", pdf)[0] == 0
    assert pdf.read_bytes() == b"%PDF-" + (proof / "report.html").read_bytes()
    assert pdf.stat().st_mode & 0o777 == 0o600


def test_without_a_browser_nothing_is_written(
    run_folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(run_folder))
    code, _, err = call("report", run_folder, "--pdf", run_folder / "card.pdf")
    assert code == 2 and "install the package chromium" in " ".join(err.split())
    assert [path.name for path in run_folder.iterdir()] == ["trials.jsonl"]
