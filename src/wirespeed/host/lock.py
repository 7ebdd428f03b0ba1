"""A lock between processes that the kernel opens when its holder dies (flock(2))."""

import contextlib
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.private import open_private
from wirespeed.model.error import InputError

HOLDER_BYTES = 32


class FileLock:
    """An exclusive lock on `path`, which is made if need be and names its holder's pid.

    It survives neither our death nor `release`; children do not inherit it. It also holds between
    containers that share the folder, where a pid would not. `opens` says whose file it may be.
    """

    def __init__(self, path: Path, opens: Callable[[Path, int], int] = open_private) -> None:
        self._path, self._opens = path, opens
        self._fd: int | None = None

    def acquire(self, timeout_s: float = 0.0) -> bool:
        """Try for at most `timeout_s`; say whether it is ours now.

        Raises InputError `file.untrusted` where another user may have put it there; OSError.
        """
        fd = self._opens(self._path, os.O_RDWR | os.O_CREAT)
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
        with contextlib.suppress(OSError, InputError, ValueError):
            fd = self._opens(self._path, os.O_RDONLY)
            try:
                return f"process {int(os.read(fd, HOLDER_BYTES))}"
            finally:
                os.close(fd)
        return "an unknown process"

    def release(self) -> None:
        """Give it up; a second call does nothing."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
