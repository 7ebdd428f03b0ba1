"""Builds what the tests run, once, and gives each test a folder for sockets."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tester_programs
from protocol_schema import check_reply
from tester_programs import Tester


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


@pytest.fixture
def start_tester(
    built: Path,  # noqa: ARG001 - there is nothing to start before
    short_folder: Path,
) -> Iterator[Callable[..., Tester]]:
    """Start testers, hold every reply against the schema, and leave none running."""
    started: list[Tester] = []

    def start(**options: Any) -> Tester:
        started.append(Tester(short_folder, **options))
        return started[-1]

    yield start
    for tester in started:
        tester.close()
    for tester in started:
        for reply in tester.seen:
            check_reply(reply)


@pytest.fixture
def tester(start_tester: Callable[..., Tester]) -> Tester:
    return start_tester()
