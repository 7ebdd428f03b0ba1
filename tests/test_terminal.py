"""What a terminal is sent: one that knows no escapes gets none."""

import os
import pty
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from wirespeed.display import Display
from wirespeed.model.frame_mix import FrameMix, FrameShare

ROOT = Path(__file__).parent.parent
CASES = ROOT / "tests/rules/cases"
NARROW = CASES / "pcie.width_below_capability/present_x4_where_both_ends_can_do_x16/capture.txt"
MAIN = (sys.executable, "-c", "from wirespeed.cli import main; main()")


def on_terminal(*words: str | Path, term: str) -> str:
    """Run wirespeed with both outputs on one terminal; give what it was sent."""
    master, slave = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": term}
    environment.pop("NO_COLOR", None)
    try:
        child = subprocess.Popen(
            [*MAIN, *words], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=environment
        )
        os.close(slave)
        parts = []
        try:
            while part := os.read(master, 65536):
                parts.append(part)
        except OSError:  # its other end is closed
            pass
        assert child.wait(60) in {0, 1}
    finally:
        os.close(master)
    return b"".join(parts).decode()


@pytest.mark.parametrize("words", [("doctor", NARROW), ("doctor", NARROW, NARROW)])
def test_a_dumb_terminal_gets_no_escapes(words: tuple[str | Path, ...]):
    assert "\x1b[" in on_terminal(*words, term="xterm")
    for term in ("dumb", "unknown"):
        said = on_terminal(*words, term=term)
        assert "pcie" in said.lower() and "\x1b" not in said


def test_a_dumb_terminal_gets_a_line_a_search(monkeypatch: pytest.MonkeyPatch):
    for term, escapes in (("dumb", False), ("xterm", True)):
        monkeypatch.setenv("TERM", term)
        said = StringIO()
        with Display(1, Console(file=said, force_terminal=True, highlight=False)) as display:
            display.search_started(1, "a-dut", FrameMix(shares=(FrameShare(frame_bytes=64),)))
        assert ("\x1b" in said.getvalue()) is escapes
        assert "[1/1] a-dut 64 B" in said.getvalue()
