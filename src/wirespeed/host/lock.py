"""A lock between processes that the kernel opens when its holder dies (flock(2))."""

import contextlib
import fcntl
import os
from pathlib import Path

from wirespeed.host.clock import Deadline, sleep_s


class FileLock:
    """An exclusive lock on `path`, which is made if need be and names its holder's pid.

    It survives neither our death nor `release`; children do not inherit it. It also holds between
    containers that share the folder, where a pid would not.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def acquire(self, timeout_s: float = 0.0) -> bool:
        """Try for at most `timeout_s`; say whether it is ours now."""
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = Deadline(timeout_s)
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if deadline.expired:
                    os.close(fd)
                    return False
                sleep_s(min(0.05, deadline.remaining_s))
            else:
                os.ftruncate(fd, 0)
                os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
                self._fd = fd
                return True

    def holder(self) -> str:
        """Say who holds it, as far as the file tells."""
        with contextlib.suppress(OSError):
            return f"process {self._path.read_text().strip()}"
        return "an unknown process"

    def release(self) -> None:
        """Give it up; a second call does nothing."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
