"""The tester that `make setup` leaves: what an overrun of its memory cannot reach."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tester_programs import build_folder

pytestmark = pytest.mark.dpdk


def left() -> Path:
    """Give the installed one; where none is, the one that was built for these tests."""
    installed = Path(sys.executable).with_name("wirespeed-tester")
    return installed if installed.exists() else build_folder() / "wirespeed-tester"


def readelf(*options: str) -> str:
    program = shutil.which("readelf")
    assert program, "no readelf: apt install binutils"
    argv = [program, "--wide", *options, left()]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


@pytest.mark.usefixtures("built")
def test_its_tables_of_addresses_cannot_be_written():
    assert "GNU_RELRO" in readelf("--segments")
    # Full: no function is looked up later, so the whole table is read-only.
    assert "BIND_NOW" in readelf("--dynamic") or "Flags: NOW" in readelf("--dynamic")


@pytest.mark.usefixtures("built")
def test_its_stack_is_guarded_and_not_executable():
    assert "__stack_chk_fail" in readelf("--dyn-syms")
    (stack,) = (line for line in readelf("--segments").splitlines() if "GNU_STACK" in line)
    assert " RW " in stack


@pytest.mark.usefixtures("built")
def test_it_lies_where_nobody_knows():
    assert "DYN (Position-Independent Executable file)" in readelf("--file-header")
