"""A folder of our own for sockets and the like, gone when we are.

`create` makes `<tmp>/wirespeed-<uid>-XXXXXXXX` with mode 0700, holds a lock in it for as long as we
live, and first removes those of our user whose owner died without cleaning up: what nobody locks
belongs to nobody.
"""

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from wirespeed.host.closing import Closing
from wirespeed.host.lock import FileLock
from wirespeed.host.private import check_private_folder
from wirespeed.model.error import InputError

_OWNER = "owner"


class PrivateFolder(Closing):
    """A locked folder. Use `create` for a new one or `adopt` for one that the user named."""

    def __init__(self, path: Path, lock: FileLock, *, remove: bool) -> None:
        self.path = path
        self._lock = lock
        self._remove = remove

    @classmethod
    def create(cls, parent: Path | None = None) -> "PrivateFolder":
        """Make a new one under `parent` (the system's temporary folder).

        Raises InputError `folder.unusable`.
        """
        parent = parent or temporary_folder()
        prefix = f"wirespeed-{os.getuid()}-"
        _remove_orphans(parent, prefix)
        # Locked before it gets the name that others look for, or they take it for an orphan.
        unnamed = Path(tempfile.mkdtemp(prefix=f".{prefix}", dir=parent))
        lock = FileLock(unnamed / _OWNER)
        if not lock.acquire():
            raise AssertionError("a folder that was just made is locked")
        path = parent / unnamed.name.removeprefix(".")
        unnamed.rename(path)
        return cls(path, lock, remove=True)

    @classmethod
    def adopt(cls, path: Path) -> "PrivateFolder":
        """Lock the folder at `path`, made if need be, and leave it there when closed.

        Raises InputError `folder.in_use` when another process has it, `file.untrusted`.
        """
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            check_private_folder(path)
            lock = FileLock(path / _OWNER)
            acquired = lock.acquire()
        except OSError as error:
            raise InputError("folder.unusable", where=str(path), found=str(error)) from None
        if not acquired:
            raise InputError(
                "folder.in_use",
                where=str(path),
                found=f"locked by {lock.holder()}",
                so="two testers would share one socket",
                next="wait for it to end, or give another folder",
            )
        return cls(path, lock, remove=False)

    def close(self) -> None:
        """Remove it (unless it was adopted) and unlock; a second call does nothing."""
        if self._remove:
            shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()


def temporary_folder() -> Path:
    """Give the folder for temporary files: one where no other user can replace ours.

    Where the system's are full or cannot be written, Python takes the working directory, whoever's
    it is. Raises InputError `folder.unusable`.
    """
    path = Path(tempfile.gettempdir())
    found = path.stat()
    mode = found.st_mode
    if found.st_uid in (0, os.geteuid()) and (mode & stat.S_ISVTX or not mode & stat.S_IWOTH):
        return path
    raise InputError(
        "folder.unusable",
        where=str(path),
        found=f"the folder for temporary files is of uid {found.st_uid}, mode {mode & 0o7777:04o}",
        so="another user could replace what wirespeed writes there; nothing was written",
        next="check that /tmp has space and can be written, or set TMPDIR to a folder of yours",
    )


def _remove_orphans(parent: Path, prefix: str) -> None:
    for path in parent.glob(f"{prefix}*"):
        # Others may write in /tmp: touch only what is a folder, and ours.
        with contextlib.suppress(OSError, InputError):
            if path.is_symlink() or path.lstat().st_uid != os.getuid():
                continue
            if not (path / _OWNER).exists():
                continue
            lock = FileLock(path / _OWNER)
            if lock.acquire():
                shutil.rmtree(path, ignore_errors=True)
                lock.release()
