"""A program that is kept on another host ends with whoever started it: here on this machine."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wirespeed.host import guest_keeper
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.detached import our_python_path

TEXT = Path(guest_keeper.__file__).read_text()
ECHO = "import sys\nfor line in sys.stdin: print(line.strip(), flush=True)"
DEAF = (
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "print('deaf', flush=True)\ntime.sleep(60)"
)
HERE_TOO = {**os.environ, **our_python_path()}
"""A process of its own is of these sources, and not of an installed release."""
Keep = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def keep(tmp_path: Path) -> Iterator[Keep]:
    """Start a keeper of a Python program; its folder is `tmp_path / "kept"`."""
    folder = tmp_path / "kept"
    folder.mkdir()
    started: list[subprocess.Popen[bytes]] = []

    def start(code: str, silent_s: float = 20) -> "subprocess.Popen[bytes]":
        words = [sys.executable, "-I", "-S", "-c", TEXT.replace("GRACE_S = 5.0", "GRACE_S = 0.3")]
        words += [str(silent_s), str(folder), sys.executable, "-c", code]
        started.append(subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.wait(10)
        for pipe in (one.stdin, one.stdout):
            assert pipe is not None
            pipe.close()


def line_of(process: "subprocess.Popen[bytes]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().decode().strip()


def program_of(keeper: int) -> int:
    deadline = Deadline(10)
    children = Path(f"/proc/{keeper}/task/{keeper}/children")
    while not (found := children.read_text().split()):
        assert not deadline.expired
        sleep_s(0.01)
    return int(found[0])


def is_gone(pid: int) -> bool:
    deadline = Deadline(10)
    while not deadline.expired:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        sleep_s(0.01)
    return False


def test_input_is_handed_on_without_the_beats(keep: Keep, tmp_path: Path):
    process = keep(ECHO)
    assert process.stdin is not None
    process.stdin.write(b"\0one\n\0")
    process.stdin.flush()
    assert line_of(process) == "one"
    process.stdin.write(b"t\0wo\n")
    process.stdin.flush()
    assert line_of(process) == "two"
    process.stdin.close()
    assert process.wait(10) == 0
    assert not (tmp_path / "kept").exists()


def test_the_programs_exit_code_is_the_keepers(keep: Keep):
    assert keep("raise SystemExit(7)").wait(10) == 7


def test_a_program_that_heeds_nothing_is_killed_at_the_end_of_the_input(keep: Keep, tmp_path: Path):
    process = keep(DEAF)
    assert line_of(process) == "deaf"
    pid = program_of(process.pid)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(10) == 128 + signal.SIGKILL
    assert is_gone(pid)
    assert not (tmp_path / "kept").exists()


def test_a_program_ends_when_nobody_is_heard(keep: Keep, tmp_path: Path):
    process = keep(ECHO, silent_s=0.3)
    process.wait(10)
    assert not (tmp_path / "kept").exists()


def test_a_keeper_that_is_killed_takes_its_program_with_it(keep: Keep):
    process = keep(DEAF)
    assert line_of(process) == "deaf"
    pid = program_of(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    assert is_gone(pid)


def test_a_keeper_that_is_ended_removes_its_folder(keep: Keep, tmp_path: Path):
    process = keep(ECHO)
    pid = program_of(process.pid)
    process.terminate()
    process.wait(10)
    assert is_gone(pid)
    assert not (tmp_path / "kept").exists()


def test_a_program_on_this_machine_is_kept_by_the_same_pipe_without_ssh(tmp_path: Path):
    folder = tmp_path / "kept"
    folder.mkdir()
    kept = [sys.executable, "-I", "-S", "-c", TEXT, "20", str(folder)]
    code = f"{ECHO}\nsys.stderr.write('to errors')\nsys.exit(7)"
    done = subprocess.run(
        [sys.executable, "-m", "wirespeed.host.ssh_pipe", "here", "--", *kept,
         sys.executable, "-c", code],
        input=b"one\ntwo\n", capture_output=True, timeout=20, check=False, env=HERE_TOO,
    )  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == (b"one\ntwo\n", b"to errors", 7)
    assert not folder.exists()


def test_a_program_on_this_machine_ends_with_a_pipe_that_is_killed(tmp_path: Path):
    folder = tmp_path / "kept"
    folder.mkdir()
    kept = [sys.executable, "-I", "-S", "-c", TEXT, "20", str(folder)]
    code = f"import os\nprint(os.getpid(), flush=True)\n{ECHO}"
    words = [sys.executable, "-m", "wirespeed.host.ssh_pipe", "here", "--", *kept]
    with subprocess.Popen(
        [*words, sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=HERE_TOO,
    ) as pipe:
        pid = int(line_of(pipe))
        pipe.kill()
    deadline = Deadline(10)
    while not is_gone(pid) or folder.exists():
        assert not deadline.expired
        sleep_s(0.05)
