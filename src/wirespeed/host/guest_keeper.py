"""Runs a program for as long as whoever started it is heard from, and not longer.

    python3 -I -S -c TEXT SECONDS FOLDER PROGRAM [ARGUMENT...]

What comes in goes to the program, save BEAT, which only says that somebody is there; what the
program prints is printed. At the end of the input, or after SECONDS without any, the program has
GRACE_S to leave, then gets TERM, then KILL, with all that it started; FOLDER is removed. Killed
itself, the kernel kills the program (PR_SET_PDEATHSIG).
"""

import contextlib
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import time

BEAT = b"\0"
GRACE_S = 5.0
TURN_S = 0.25


def feed(program: "subprocess.Popen[bytes]", silent_s: float) -> None:
    """Pass input on until it ends, nothing arrives in time, or the program has ended."""
    heard = time.monotonic()
    while program.poll() is None and time.monotonic() - heard < silent_s:
        if not select.select([0], [], [], TURN_S)[0]:
            continue
        chunk = os.read(0, 1 << 16)
        if not chunk:
            return
        heard = time.monotonic()
        words = chunk.replace(BEAT, b"")
        if words and program.stdin is not None:
            try:
                program.stdin.write(words)
                program.stdin.flush()
            except BrokenPipeError:
                return


def end(program: "subprocess.Popen[bytes]") -> int:
    """Let it leave, or make it; give its return code."""
    if program.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            program.stdin.close()
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            return program.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, number)
    return program.wait(GRACE_S)


def main() -> int:
    """Start it, keep it, end it."""
    silent_s, folder, *argv = sys.argv[1:]
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    program = None
    # Whoever started us looks for it. Where the folder is gone already, nobody waits for us.
    pathlib.Path(folder, "keeper").write_text(str(os.getpid()))
    try:
        words = ["setpriv", "--pdeathsig", "KILL", "--", *argv]
        program = subprocess.Popen(words, stdin=subprocess.PIPE, process_group=0)
        feed(program, float(silent_s))
    finally:
        try:
            returncode = 127 if program is None else end(program)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return returncode if returncode >= 0 else 128 - returncode


if __name__ == "__main__":
    sys.exit(main())
