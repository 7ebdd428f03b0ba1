"""Builds what the tests run, once, and gives each test a folder for sockets."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import tester_programs


@pytest.fixture(scope="session")
def built() -> Path:
    folder = tester_programs.build_folder()
    tester_programs.build(folder)
    return folder


@pytest.fixture(name="short_folder")
def _short_folder() -> Iterator[Path]:
    yield from tester_programs.short_folder()


@pytest.fixture(scope="module")
def wire_folder() -> Iterator[Path]:
    yield from tester_programs.short_folder()
