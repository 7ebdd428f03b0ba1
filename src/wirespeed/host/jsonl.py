"""A file of JSON lines that survives a kill at any moment: each line is on disk when it is written.

A line that a kill cut short is not a record: reading leaves it out, and writing starts after the
last whole line. What was there of it is kept beside the file, as `NAME.torn-1` and so on.
"""

import os
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from wirespeed.host.files import read_limited
from wirespeed.host.lock import FileLock
from wirespeed.host.private import make_private_folder, open_private, open_result, sync_folder
from wirespeed.model.error import InputError

MAX_BYTES = 128 << 20
MAX_LINES = 100_000
"""A trial has some kilobytes, and no run has 20,000."""


def read_lines(path: Path) -> list[str]:
    """Give all whole lines. Raises InputError `file.unreadable`, `file.too_large`."""
    data = read_limited(path, MAX_BYTES)
    # Not splitlines(): JSON may hold U+2028 and others that it takes for the end of a line.
    *lines, rest = data.decode(errors="replace").split("\n", MAX_LINES)
    if "\n" in rest:
        raise InputError(
            "file.too_large",
            where=str(path),
            found=f"more than {MAX_LINES} lines",
            so="wirespeed does not read it",
            next="check that this is the file that you meant",
        )
    return lines


class JsonlWriter:
    """Appends to one file, which no other process may write to at the same time.

    It is ours alone, in a folder that no other user can write to. Raises InputError `run.in_use`
    when another process writes to it, `file.untrusted`, `file.unwritable`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1
        self._lock = FileLock(path.with_name(f".{path.name}.lock"), self._opens)
        try:
            self._make_folder(path.parent)
            if not self._lock.acquire():
                raise InputError(
                    "run.in_use",
                    where=str(path),
                    found=f"{self._lock.holder()} is writing to it",
                    next="wait for it, or give another folder",
                )
            self._fd = self._opens(path, os.O_RDWR | os.O_CREAT)
            self._keep_torn_line()
            sync_folder(path.parent)
        except OSError as error:
            self.close()
            raise InputError("file.unwritable", where=str(path), found=str(error)) from None
        except BaseException:
            self.close()
            raise

    def _opens(self, path: Path, flags: int) -> int:
        return open_private(path, flags)

    def _make_folder(self, folder: Path) -> None:
        make_private_folder(folder)

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
        """Empty the file. Raises InputError `file.unwritable`."""
        try:
            os.ftruncate(self._fd, 0)
            os.lseek(self._fd, 0, os.SEEK_SET)
        except OSError as error:
            raise InputError("file.unwritable", where=str(self._path), found=str(error)) from None

    def set_aside(self) -> None:
        """Move its content to a file beside it. Raises InputError `file.unwritable`."""
        try:
            self._keep(self._content())
        except OSError as error:
            raise InputError("file.unwritable", where=str(self._path), found=str(error)) from None
        self.clear()

    def replace(self, lines: Sequence[str]) -> None:
        """Put other lines in place of its content, which is kept beside it: all or none.

        Raises InputError `file.unwritable`.
        """
        draft = self._path.with_name(f".{self._path.name}.draft")
        try:
            self._keep(self._content())
            draft.unlink(missing_ok=True)
            fd = self._opens(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            with os.fdopen(fd, "wb") as file:
                file.write("".join(f"{line}\n" for line in lines).encode())
                file.flush()
                os.fsync(fd)
            draft.replace(self._path)
            sync_folder(self._path.parent)
            os.close(self._fd)
            self._fd = self._opens(self._path, os.O_RDWR)
            self._drop_torn_line()
        except OSError as error:
            raise InputError("file.unwritable", where=str(self._path), found=str(error)) from None

    def close(self) -> None:
        """Close it and let others write; a second call does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self._lock.release()

    def _drop_torn_line(self) -> None:
        whole = self._content().rfind(b"\n") + 1
        os.ftruncate(self._fd, whole)
        os.lseek(self._fd, whole, os.SEEK_SET)

    def _keep_torn_line(self) -> None:
        data = self._content()
        if torn := data[data.rfind(b"\n") + 1 :]:
            self._keep(torn)
        self._drop_torn_line()

    def _keep(self, torn: bytes) -> None:
        for number in count(1):
            path = self._path.with_name(f"{self._path.name}.torn-{number}")
            try:
                fd = self._opens(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            except FileExistsError:
                continue
            with os.fdopen(fd, "wb") as file:
                file.write(torn)
                file.flush()
                os.fsync(fd)
            sync_folder(path.parent)
            return

    def _content(self) -> bytes:
        size = os.fstat(self._fd).st_size
        with os.fdopen(os.dup(self._fd), "rb") as file:
            file.seek(0)
            return file.read(size)


class ResultWriter(JsonlWriter):
    """The same for figures that people share: in any folder, and readable as the umask has it."""

    def _opens(self, path: Path, flags: int) -> int:
        return open_result(path, flags)

    def _make_folder(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)

    def _keep(self, torn: bytes) -> None:
        """Drop it: a trial that was cut short is measured once more."""
