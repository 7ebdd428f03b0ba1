"""`wirespeed` as a process of its own, from these sources; and what processes a lab has."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from wirespeed.host.clock import Deadline, sleep_s

CODE = "from wirespeed.cli import main; main()"


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    path = os.pathsep.join(sys.path)
    return subprocess.Popen(
        [sys.executable, "-c", CODE, *arguments],
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wirespeed(
    *arguments: str, timeout_s: float = 240.0, **environment: str
) -> subprocess.CompletedProcess[str]:
    process = start(*arguments, **environment)
    try:
        output, errors = process.communicate(timeout=timeout_s)
    except BaseException:
        process.kill()
        process.communicate(timeout=10)
        raise
    return subprocess.CompletedProcess(arguments, process.returncode, output, errors)


def processes_with(word: str) -> dict[int, str]:
    """Process id and command line of all, but us, that have `word` among their arguments."""
    found = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                line = (
                    (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
                if word in line:
                    found[int(entry.name)] = line
    return found


def await_none_with(word: str, timeout_s: float = 20.0) -> None:
    deadline = Deadline(timeout_s)
    while left := processes_with(word):
        assert not deadline.expired, f"still there: {left}"
        sleep_s(0.05)
