"""A file of JSON lines that survives a kill at any moment: each line is on disk when it is written.

A line that a kill cut short is not a record: reading leaves it out, and writing starts after the
last whole line.
"""

import os
from pathlib import Path

from wirespeed.host.lock import FileLock
from wirespeed.model.error import InputError


def read_lines(path: Path) -> list[str]:
    """Give all whole lines. Raises InputError `file.unreadable`."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError("file.unreadable", where=str(path), found=str(error)) from None
    # Not splitlines(): JSON may hold U+2028 and others that it takes for the end of a line.
    return data.decode(errors="replace").split("\n")[:-1]


class JsonlWriter:
    """Appends to one file, which no other process may write to at the same time.

    Raises InputError `run.in_use` when another one does, `file.unwritable`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1
        self._lock = FileLock(path.with_name(f".{path.name}.lock"))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not self._lock.acquire():
                raise InputError(
                    "run.in_use",
                    where=str(path),
                    found=f"{self._lock.holder()} is writing to it",
                    next="wait for it, or name another folder",
                )
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            self._drop_torn_line()
            _sync_folder(path.parent)
        except OSError as error:
            self.close()
            raise InputError("file.unwritable", where=str(path), found=str(error)) from None

    def append(self, line: str) -> None:
        """Write one line; it is on disk when this returns. Raises InputError `file.unwritable`."""
        if "\n" in line:
            raise ValueError("one line at a time")
        data = memoryview(line.encode() + b"\n")
        try:
            while data:
                data = data[os.write(self._fd, data) :]
            os.fsync(self._fd)
        except OSError as error:
            self._drop_torn_line()
            raise InputError("file.unwritable", where=str(self._path), found=str(error)) from None
        except BaseException:
            # Ctrl-C between two writes: what is appended next must not go on in this line.
            self._drop_torn_line()
            raise

    def clear(self) -> None:
        """Begin anew: nothing that was written stays. Raises InputError `file.unwritable`."""
        try:
            os.ftruncate(self._fd, 0)
            os.lseek(self._fd, 0, os.SEEK_SET)
        except OSError as error:
            raise InputError("file.unwritable", where=str(self._path), found=str(error)) from None

    def close(self) -> None:
        """Close it and let others write; a second call does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self._lock.release()

    def _drop_torn_line(self) -> None:
        whole = self._path.read_bytes().rfind(b"\n") + 1
        os.ftruncate(self._fd, whole)
        os.lseek(self._fd, whole, os.SEEK_SET)


def _sync_folder(folder: Path) -> None:
    """Make the name of a file that was made durable too: its own fsync does not (fsync(2))."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
