"""A change that goes back by itself, on this machine: the change is a file that is there."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.local import LocalRunner
from wirespeed.measure.network.lease import borrowed
from wirespeed.model.command import Command
from wirespeed.model.error import LeftChangedError, MeasurementError


def touch(path: Path) -> list[Command]:
    return [Command(argv=("touch", str(path)))]


def remove(path: Path) -> list[Command]:
    return [Command(argv=("rm", "-f", str(path)))]


def guards(word: str) -> list[str]:
    """Command lines of processes that have `word` in theirs."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if word in line:
                found.append(line)
    return found


def await_no_guard(word: str) -> None:
    deadline = Deadline(10)
    while left := guards(word):
        assert not deadline.expired, left
        sleep_s(0.02)


def await_gone(path: Path, timeout_s: float) -> None:
    deadline = Deadline(timeout_s)
    while path.exists():
        assert not deadline.expired
        sleep_s(0.02)


def test_it_is_there_within_and_gone_after_and_so_is_the_guard(tmp_path: Path):
    path = tmp_path / "it's there"
    with borrowed(LocalRunner(), "here", touch(path), remove(path), 60):
        assert path.exists()
        assert guards(str(tmp_path)), "somebody gives it back if we do not"
    assert not path.exists()
    await_no_guard(str(tmp_path))


def test_it_goes_back_when_we_are_killed(tmp_path: Path):
    path = tmp_path / "changed"
    code = f"""
from pathlib import Path
import time
from wirespeed.host.local import LocalRunner
from wirespeed.measure.network.lease import borrowed
from wirespeed.model.command import Command
it = {str(path)!r}
with borrowed(LocalRunner(), "here", [Command(argv=("touch", it))],
              [Command(argv=("rm", "-f", it))], 2):
    print("changed", flush=True)
    time.sleep(60)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "changed\n"
        process.send_signal(signal.SIGKILL)
    assert path.exists()
    await_gone(path, 10)


def test_a_change_that_is_refused_is_put_back_and_its_words_are_told(tmp_path: Path):
    path = tmp_path / "half"
    change = [*touch(path), Command(argv=("ls", str(tmp_path / "nowhere"))), *touch(tmp_path / "b")]
    with (
        pytest.raises(MeasurementError, match="No such file"),
        borrowed(LocalRunner(), "here", change, remove(path), 60),
    ):
        raise AssertionError("nothing is done with half a change")
    assert not path.exists()
    assert not (tmp_path / "b").exists(), "what comes after a failure is not run"
    await_no_guard(str(tmp_path))


def test_what_cannot_be_given_back_is_said_and_the_guard_stays(tmp_path: Path):
    path = tmp_path / "changed"
    back = [Command(argv=("sh", "-c", f"test -e {tmp_path}/may && rm {path}"))]
    with (
        pytest.raises(LeftChangedError, match="left_changed"),
        borrowed(LocalRunner(), "here", touch(path), back, 2),
    ):
        pass
    assert path.exists()
    (tmp_path / "may").touch()
    await_gone(path, 10)


def test_it_is_given_back_when_what_is_done_meanwhile_fails(tmp_path: Path):
    path = tmp_path / "changed"
    with (
        pytest.raises(ZeroDivisionError),
        borrowed(LocalRunner(), "here", touch(path), remove(path), 60),
    ):
        raise ZeroDivisionError
    assert not path.exists()
