"""The described tester in the real one's place, for a command that is run whole."""

import stat
import sys
from pathlib import Path

import pytest

from wirespeed.model.error import InputError
from wirespeed.runs import rfc2544

FAKE = Path(__file__).parent / "fake_tester.py"


def put_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put it there, with no doctor; give a folder for the run."""
    program = tmp_path / "tester"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("WIRESPEED_TESTER", str(program))
    monkeypatch.delenv("FAKE_TESTER", raising=False)

    def no_doctor(*_: object) -> None:
        raise InputError("not.asked")

    monkeypatch.setattr(rfc2544, "examine", no_doctor)
    return tmp_path / "run"
