"""The real Chromium prints a page of ours."""

import shutil
from pathlib import Path

from .conftest import Call
from .records import whole_run


def test_chromium_prints_the_page(tmp_path: Path, call: Call):
    assert shutil.which("chromium"), "no Chromium: scripts/install-system.sh test installs it"
    lines = [record.model_dump_json() for record in whole_run()]
    (tmp_path / "trials.jsonl").write_text("\n".join(lines) + "\n")
    pdf = tmp_path / "card.pdf"
    assert call("report", tmp_path, "--beside", "published:2", "--pdf", pdf)[0] == 0
    printed = pdf.read_bytes()
    assert printed.startswith(b"%PDF-") and b"%%EOF" in printed[-1024:]
    assert len(printed) > 20_000
