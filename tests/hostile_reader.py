"""A command with a file from outside, in a process of its own: what it says, and what it took.

Time is the CPU time of the process, by the measure of `yardstick`: a slow machine is no failure.
"""

import gc
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from threading import Timer
from time import process_time

from yardstick import loop_s

PEAK = "HOSTILE_READER_PEAK"
CLI = f"""
import os
from wirespeed.cli import main
try:
    main()
finally:
    status = open("/proc/self/status").read()
    os.write(int(os.environ["{PEAK}"]), status.partition("VmHWM:")[2].split()[0].encode())
"""
"""The peak is what Linux counts since exec: ru_maxrss has what the parent had, too."""
MOST_MB = 512
MOST_S = 5.0
LOOPS = 60
"""Of the yardstick: some 6 s on the machine that this was written on."""
SAFE_BYTES, SAFE_S = 2 << 30, 30
"""A reader that is not bounded ends here, and not the machine."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a process came to."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float
    peak_mb: int

    @property
    def is_bounded(self) -> bool:
        """Whether time and memory are those that the law gives a reader of 20 MB."""
        return is_in_time(self.seconds) and self.peak_mb <= MOST_MB

    def refuses(self, what: str) -> bool:
        """Whether it ended with one error of ours, in time and memory."""
        said = self.stderr.strip()
        is_one = said.startswith(f"ERROR {what} ") and said.count("ERROR ") == 1
        return self.returncode == 2 and is_one and "Traceback" not in said and self.is_bounded


def is_in_time(seconds: float) -> bool:
    """Whether so many seconds of CPU time are no more than a reader of 20 MB may take."""
    return seconds < MOST_S or seconds < LOOPS * loop_s()


def seconds_of(work: Callable[[], object]) -> float:
    """Give the CPU time of work in this process: of what needs no bound of its memory.

    What earlier tests left in memory is kept from the collector: it would go through it each time.
    """
    gc.collect()
    gc.freeze()
    try:
        started = process_time()
        work()
        return process_time() - started
    finally:
        gc.unfreeze()


def wirespeed(*words: object, environment: dict[str, str] | None = None) -> Outcome:
    """Run the command line; what it may take is bounded far above what it should."""
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
        tempfile.TemporaryFile() as peak,
    ):
        child = subprocess.Popen(
            [sys.executable, "-c", CLI, *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            env={**os.environ, **(environment or {}), PEAK: str(peak.fileno())},
            pass_fds=(peak.fileno(),),
        )
        resource.prlimit(child.pid, resource.RLIMIT_AS, (SAFE_BYTES, SAFE_BYTES))
        resource.prlimit(child.pid, resource.RLIMIT_CPU, (SAFE_S, SAFE_S + 1))
        timer = Timer(4 * SAFE_S, child.kill)
        timer.start()
        try:
            _, status, used = os.wait4(child.pid, 0)
        finally:
            timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, errors, peak):
            file.seek(0)
        return Outcome(
            child.returncode,
            out.read().decode(errors="replace"),
            errors.read().decode(errors="replace"),
            used.ru_utime + used.ru_stime,
            int(peak.read() or SAFE_BYTES >> 10) >> 10,
        )
