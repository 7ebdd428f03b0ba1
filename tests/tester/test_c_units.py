"""The tester's C unit tests, as `meson test` runs them."""

import subprocess
from pathlib import Path

import pytest
from tester_programs import meson


@pytest.mark.dpdk
def test_the_units_of_the_tester_hold(built: Path):
    argv = [meson(), "test", "-C", built, "--no-rebuild", "--print-errorlogs"]
    tests = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert tests.returncode == 0, tests.stdout + tests.stderr
