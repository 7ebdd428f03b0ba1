"""Who we are: this machine, this process, its user. What others are told of us."""

import getpass
import hashlib
import hmac
import os
import socket
from contextlib import suppress
from pathlib import Path

from wirespeed.host.clock import utc_now
from wirespeed.model.owner import Owner

MACHINE_ID = Path("/etc/machine-id")
PROC = Path("/proc")
_PURPOSE = b"wirespeed: owner of a run"
_STARTED = 19
"""Field of /proc/PID/stat after the program's name: when it was started, in ticks (proc(5))."""


def owner_of(run: str, folder: Path) -> Owner:
    """Give this process as the owner of a run."""
    return Owner(
        run=run,
        machine=machine(),
        process=_process(os.getpid()),
        user=_user(),
        host=socket.gethostname(),
        since=utc_now(),
        folder=str(folder.resolve()),
    )


def machine() -> str:
    """Give a hash of the machine's id: the id itself must not leave it (machine-id(5))."""
    with suppress(OSError):
        if own := MACHINE_ID.read_bytes().strip():
            return hmac.new(own, _PURPOSE, hashlib.sha256).hexdigest()[:32]
    return ""


def lives(process: str) -> bool:
    """Tell whether a process, as `Owner.process` names it, is alive here, and is not we.

    One of another boot, or of processes that we do not see (another container), is not.
    """
    number = process.partition(".")[0]
    if not (number.isascii() and number.isdecimal()) or int(number) == os.getpid():
        return False
    return process == _process(int(number))


def _process(number: int) -> str:
    with suppress(OSError, IndexError):
        stat = (PROC / str(number) / "stat").read_text(errors="replace")
        started = stat.rpartition(")")[2].split()[_STARTED]
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        space = (PROC / "self/ns/pid").stat().st_ino
        return f"{number}.{started}.{space}.{boot}"
    return ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
