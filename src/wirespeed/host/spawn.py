"""Starting a process that cannot outlive us, and ending it with all that it started."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.model.error import InputError

_POLL_S = 0.01


def spawn(
    argv: Sequence[str],
    *,
    stdin: int,
    environment: Mapping[str, str] | None = None,
    folder: str | None = None,
) -> subprocess.Popen[bytes]:
    """Start `argv` with pipes for its output, in a process group of its own.

    The kernel kills it when the *thread* that called this dies (prctl(2), PR_SET_PDEATHSIG), so
    call it from a thread that lives as long as the child is wanted. `environment` is added to ours;
    `folder` is its working directory in place of ours. Raises InputError `command.missing`.
    """
    if shutil.which(argv[0]) is None:
        raise InputError(
            "command.missing",
            where=argv[0],
            found="no such program in PATH",
            next=f"install the package that contains {argv[0]}",
        )
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise InputError(
            "command.missing",
            where="setpriv",
            found="no such program in PATH",
            so="a child could outlive a killed wirespeed",
            next="install util-linux",
        )
    return subprocess.Popen(
        [setpriv, "--pdeathsig", "KILL", "--", *argv],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
        cwd=folder,
        env={**os.environ, **environment} if environment else None,
        bufsize=0,
    )


def leave_relative_folders_out_of_path() -> None:
    """Keep a program of the working directory from being run in place of the system's.

    What is empty in PATH is the working directory, as is `.`.
    """
    folders = os.environ.get("PATH", "").split(os.pathsep)
    if kept := [folder for folder in folders if Path(folder).is_absolute()]:
        os.environ["PATH"] = os.pathsep.join(kept)


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it ended, without reaping it: its process group's number stays taken."""
    if process.returncode is not None:
        return True
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def wait_ended(process: subprocess.Popen[bytes], timeout_s: float) -> bool:
    """Wait until it ended, at most `timeout_s`; say whether it did."""
    deadline = Deadline(timeout_s)
    while not has_ended(process):
        if deadline.expired:
            return False
        sleep_s(_POLL_S)
    return True


def end(process: subprocess.Popen[bytes], *, term_s: float, kill_s: float = 5.0) -> int | None:
    """TERM to the group, `term_s` for it to go, then KILL to the whole group, then reap.

    Gives the return code, or None when the kernel does not let go of it within `kill_s`.
    """
    if process.returncode is not None:
        return process.returncode
    if not has_ended(process):
        _signal_group(process, signal.SIGTERM)
        wait_ended(process, term_s)
    # Even when the leader is gone, what it started may not be. It is not reaped yet, so that
    # its number cannot have become somebody else's group.
    _signal_group(process, signal.SIGKILL)
    try:
        return process.wait(kill_s)
    except subprocess.TimeoutExpired:
        return None


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return
    except PermissionError:
        # Only a group whose every member changed its user: ours never do.
        process.send_signal(number)
