"""A process that goes on when we end, and how to end it later."""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.lock import FileLock
from wirespeed.model.error import MeasurementError

_POLL_S = 0.05
MAX_LINE_BYTES = 1 << 16


class Detached:
    """A process in a session of its own, that tells us in lines of text how far it is.

    When we are gone, its next line meets a closed pipe: that is how it knows.
    """

    def __init__(self, argv: Sequence[str], log: Path, environment: Mapping[str, str]) -> None:
        """Start it; `environment` is added to ours, and its errors go to `log`."""
        self._name = " ".join(argv[:3])
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                cwd="/",
                env={**os.environ, **environment},
            )
        if self._process.stdout is None:
            raise AssertionError("it has a pipe")
        self._pipe = self._process.stdout

    @property
    def pid(self) -> int:
        """Process id, which is also its session's."""
        return self._process.pid

    def lines(self, timeout_s: float) -> Iterator[str]:
        """Give its lines until it closes its output. Raises MeasurementError `command.timeout`."""
        deadline = Deadline(timeout_s)
        buffer = b""
        os.set_blocking(self._pipe.fileno(), False)
        with selectors.DefaultSelector() as selector:
            selector.register(self._pipe, selectors.EVENT_READ)
            while True:
                if not selector.select(deadline.remaining_s) and deadline.expired:
                    raise MeasurementError(
                        "command.timeout",
                        where=self._name,
                        found=f"not done within {timeout_s:g} s",
                        so="it was ended",
                        next="start fewer hosts, or wait until this machine is less busy",
                    )
                chunk = os.read(self._pipe.fileno(), MAX_LINE_BYTES)
                if not chunk:
                    return
                *whole, buffer = (buffer + chunk).split(b"\n")
                buffer = buffer[-MAX_LINE_BYTES:]
                for line in whole:
                    yield line.decode(errors="replace")

    def end(self, term_s: float = 10.0) -> None:
        """TERM, then KILL, and reap it."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            self._process.wait(term_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5.0)
        self._pipe.close()


def our_python(module: str) -> tuple[str, ...]:
    """Give the words that run a module of ours, in the environment `our_python_path`.

    With `-m` alone, Python searches the working directory first, whoever's it is.
    """
    return sys.executable, "-P", "-s", "-m", module


def our_python_path() -> dict[str, str]:
    """Give the environment in which another Python finds what this one runs."""
    return {"PYTHONPATH": os.pathsep.join(str(Path(path).absolute()) for path in sys.path if path)}


def speak_up(line: str) -> None:
    """In such a process: write one line. Raises BrokenPipeError when the reader is gone."""
    os.write(1, line.encode() + b"\n")


def speak_no_more() -> None:
    """In such a process: close the output, and go on alone."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


def interrupt_on_term() -> None:
    """Let SIGTERM and the end of a terminal do what Ctrl-C does: everything is closed."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)


def end_owner(lock_file: Path, pid: int, *, term_s: float = 15.0, kill_s: float = 5.0) -> bool:
    """End the process that holds a lock: TERM, then KILL; say whether the lock is free then.

    The lock says that its holder lives, so `pid` is no other process's by now.
    """
    for number, wait_s in ((signal.SIGTERM, term_s), (signal.SIGKILL, kill_s)):
        if _is_free(lock_file):
            return True
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        deadline = Deadline(wait_s)
        while not deadline.expired:
            if _is_free(lock_file):
                return True
            sleep_s(_POLL_S)
    return False


def _is_free(lock_file: Path) -> bool:
    if not lock_file.exists():
        return True
    lock = FileLock(lock_file)
    try:
        is_free = lock.acquire()
    except FileNotFoundError:
        return True
    lock.release()
    return is_free
