"""A child that we talk to in lines, for as long as we live and not a moment longer.

                     write_line, read_line
    spawn ---> alive ---------------------> alive
                 | close: quit line, then TERM, then KILL, each bounded
                 v
               closed (reaped, pipes closed)

Its standard error is drained by a thread into a tail of fixed size, for otherwise a talkative child
would block once the pipe is full. Its output is read only when asked for: there the pipe itself is
the bound.
"""

import collections
import contextlib
import os
import re
import selectors
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import IO

from wirespeed.host.clock import Deadline
from wirespeed.host.closing import Closing
from wirespeed.host.spawn import end, has_ended, spawn, wait_ended
from wirespeed.model.error import MeasurementError

MAX_LINE_BYTES = 1 << 20
TAIL_BYTES = 4096
FIRST_NICE = -20
"""87 times the weight of a process of the usual priority (sched_prio_to_weight, kernel/sched/)."""
_TAIL_LINES = 8
_BUSY = "see with `uptime` whether this machine is overloaded, then run the same command again"
_NEXT = {
    "died": "fix what its last lines name, then run the same command again; if the kernel ended "
    "it, `dmesg | tail` says why",
    "deaf": _BUSY,
    "silent": _BUSY,
    "rubbish": "check that this is the program that you meant, and not another of that name",
}


class Child(Closing):
    """A long-lived child process, spoken to in lines of text.

    `role` starts the slug of its errors (`dut.died`, `tester.silent`); `quit_line` is what asks it
    to leave, None when it knows no such thing. Not safe for use by two threads at once; the thread
    that makes it must outlive it (see `spawn`).
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        role: str,
        quit_line: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.argv = tuple(argv)
        self.role = role
        self._quit_line = quit_line
        self._process = spawn(argv, stdin=subprocess.PIPE, environment=environment)
        if not (self._process.stdin and self._process.stdout and self._process.stderr):
            raise AssertionError("spawn gives three pipes")
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._buffer = bytearray()
        self._scanned = 0
        self._output_ended = False
        self._closed = False
        self._lines: collections.deque[str] = collections.deque(maxlen=_TAIL_LINES)
        self._errors = bytearray()
        self._errors_lock = threading.Lock()
        self._drain = threading.Thread(target=self._drain_errors, daemon=True)
        self._drain.start()

    @property
    def pid(self) -> int:
        """Process id, which is also its process group's."""
        return self._process.pid

    def put_first(self) -> str:
        """Let it run before others on its CPUs, where the kernel allows it; give its niceness.

        Root may, and whoever has an RLIMIT_NICE of 40. Threads that it starts later have the same.
        """
        with contextlib.suppress(PermissionError, ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, self.pid, FIRST_NICE)
        with contextlib.suppress(ProcessLookupError):
            return f"nice {os.getpriority(os.PRIO_PROCESS, self.pid)}"
        return "ended"

    def alive(self) -> bool:
        """Whether it is still running."""
        return not self._closed and not has_ended(self._process)

    def errors_tail(self) -> str:
        """Give the last lines of its standard error, or of its output where there are none."""
        with self._errors_lock:
            tail = self._errors.decode(errors="replace")
        lines = [line for line in tail.splitlines() if line.strip()]
        return "\n".join(lines[-_TAIL_LINES:] or self._lines)

    def write_line(self, line: str, timeout_s: float = 5.0) -> None:
        """Send one line. Raises MeasurementError `<role>.died` or `<role>.deaf`."""
        if "\n" in line:
            raise ValueError("one line at a time")
        rest = memoryview(line.encode() + b"\n")
        deadline = Deadline(timeout_s)
        while rest:
            if not self._ready(self._in, selectors.EVENT_WRITE, deadline):
                raise self._failure("deaf", f"did not take a line within {timeout_s:g} s")
            try:
                rest = rest[os.write(self._in, rest) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self.death() from None

    def read_line(self, timeout_s: float) -> str:
        """Give the next line of its output, without its end.

        Raises MeasurementError `<role>.died` at the end of the output, `<role>.silent` when no
        whole line comes within `timeout_s`, `<role>.rubbish` above MAX_LINE_BYTES.
        """
        deadline = Deadline(timeout_s)
        while True:
            end_of_line = self._buffer.find(b"\n", self._scanned)
            if end_of_line >= 0:
                line = self._buffer[:end_of_line].decode(errors="replace").rstrip("\r")
                del self._buffer[: end_of_line + 1]
                self._scanned = 0
                self._lines.append(line)
                return line
            self._scanned = len(self._buffer)
            if self._scanned > MAX_LINE_BYTES:
                raise self._failure("rubbish", f"a line of more than {MAX_LINE_BYTES} bytes")
            if self._output_ended:
                raise self.death()
            if not self._ready(self._out, selectors.EVENT_READ, deadline):
                raise self._failure("silent", f"no line within {timeout_s:g} s")
            with contextlib.suppress(BlockingIOError):
                chunk = os.read(self._out, 1 << 16)
                self._output_ended = not chunk
                self._buffer += chunk

    def read_until(self, pattern: re.Pattern[str], timeout_s: float) -> list[str]:
        """All lines up to and with the first that `pattern` is found in.

        Raises as `read_line` does; `timeout_s` bounds the whole wait.
        """
        deadline = Deadline(timeout_s)
        lines: list[str] = []
        while True:
            try:
                line = self.read_line(deadline.remaining_s)
            except MeasurementError as error:
                if error.what == f"{self.role}.silent":
                    error.found = f"no line with {pattern.pattern!r} within {timeout_s:g} s"
                raise
            lines.append(line)
            if pattern.search(line):
                return lines

    def death(self) -> MeasurementError:
        """Make the error that says how it ended, with the last that it said."""
        # Its output ends a moment before it does, and its last words may be still in the pipe.
        wait_ended(self._process, 1.0)
        self._drain.join(0.5)
        if self._closed:
            return self._failure("died", "it was closed")
        if not has_ended(self._process):
            return self._failure("died", "it closed its output but still runs")
        state = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if state is None:
            return self._failure("died", "it ended")
        if state.si_code == os.CLD_EXITED:
            return self._failure("died", f"exit code {state.si_status}")
        return self._failure("died", f"killed by {signal.Signals(state.si_status).name}")

    def close(self, *, quit_s: float = 2.0, term_s: float = 2.0) -> None:
        """Ask it to leave, then TERM, then KILL; reap it, close our ends. Again: a no-op.

        Raises MeasurementError `<role>.unkillable` when even KILL does not end it in 5 s (a task
        that hangs in the kernel).
        """
        if self._closed:
            return
        self._closed = True
        if not has_ended(self._process):
            if self._quit_line is not None:
                with contextlib.suppress(OSError):
                    os.write(self._in, self._quit_line.encode() + b"\n")
            # Most programs that read commands also leave at the end of their input.
            self._close_pipe(self._process.stdin)
            if self._quit_line is not None:
                self._drain_output_until_ended(quit_s)
        returncode = end(self._process, term_s=term_s)
        self._drain.join(1.0)
        for pipe in (self._process.stdin, self._process.stdout):
            self._close_pipe(pipe)
        if not self._drain.is_alive():
            self._close_pipe(self._process.stderr)
        if returncode is None:
            raise MeasurementError(
                f"{self.role}.unkillable",
                where=self._name(),
                found="still there 5 s after SIGKILL",
                so="the process remains, blocked in the kernel",
                next=f"see /proc/{self.pid}/stack",
            )

    def _name(self) -> str:
        return f"{self.argv[0]} (pid {self.pid})"

    def _failure(self, what: str, found: str) -> MeasurementError:
        tail = self.errors_tail()
        return MeasurementError(
            f"{self.role}.{what}",
            where=self._name(),
            found=f"{found}; it last said:\n{tail}" if tail else f"{found}; it said nothing",
            next=_NEXT[what],
        )

    @staticmethod
    def _close_pipe(pipe: IO[bytes] | None) -> None:
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()

    @staticmethod
    def _ready(fd: int, event: int, deadline: Deadline) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(fd, event)
            return bool(selector.select(deadline.remaining_s))

    def _drain_output_until_ended(self, timeout_s: float) -> None:
        """Let it write its farewell: a child that blocks on a full pipe never leaves politely."""
        deadline = Deadline(timeout_s)
        while not has_ended(self._process) and not deadline.expired:
            if not self._ready(self._out, selectors.EVENT_READ, Deadline(0.02)):
                continue
            with contextlib.suppress(BlockingIOError):
                if not os.read(self._out, 1 << 16):
                    wait_ended(self._process, deadline.remaining_s)
                    return

    def _drain_errors(self) -> None:
        pipe = self._process.stderr
        if pipe is None:
            return
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(pipe.fileno(), 1 << 14):
                with self._errors_lock:
                    self._errors += chunk
                    del self._errors[:-TAIL_BYTES]
