"""The collector runs once for a description, until what the capture depends on changes."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from described import host as described
from described.healthy import kinds
from described.host import SHARED, capture_of, remove_unused

NAME = "guest_vf"


class CollectorError(Exception):
    """The collector was run."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that no other test shares, and a process that has taken nothing yet."""
    monkeypatch.setenv(SHARED, str(tmp_path))
    monkeypatch.setattr(described, "_TAKEN", {})
    yield tmp_path
    described._way.cache_clear()


@pytest.fixture
def taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The capture, in the folder; whoever runs the collector after it fails."""
    capture = capture_of(kinds()[NAME]())
    assert [file.read_text() for file in folder.iterdir()] == [capture]
    described._TAKEN.clear()

    def fail(*_: object, **__: object) -> None:
        raise CollectorError

    monkeypatch.setattr(subprocess, "run", fail)
    return capture


def test_another_process_takes_it_from_the_folder(taken: str):
    assert capture_of(kinds()[NAME]()) == taken


@pytest.mark.usefixtures("taken")
def test_a_description_that_differs_is_captured():
    host = kinds()[NAME]()
    host.files["/proc/uptime"] = "1.00 1.00"
    with pytest.raises(CollectorError):
        capture_of(host)


@pytest.mark.usefixtures("taken")
def test_with_another_collector_it_is_captured_again(monkeypatch: pytest.MonkeyPatch):
    described._way.cache_clear()
    script = described.collector_script()
    monkeypatch.setattr(described, "collector_script", lambda: f"{script}\n")
    with pytest.raises(CollectorError):
        capture_of(kinds()[NAME]())


def test_what_nobody_took_for_a_month_is_removed(folder: Path, taken: str):
    (file,) = folder.iterdir()
    remove_unused(folder, days=30)
    assert file.exists()
    os.utime(file, (time.time() - 31 * 86_400,) * 2)
    assert capture_of(kinds()[NAME]()) == taken
    remove_unused(folder, days=30)
    assert file.exists()
    os.utime(file, (time.time() - 31 * 86_400,) * 2)
    remove_unused(folder, days=30)
    assert not file.exists()
