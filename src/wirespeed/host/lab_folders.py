"""Where the labs of this user are: one folder for each, with its keys, sockets and ssh_config.

    $XDG_RUNTIME_DIR/wirespeed/labs/NAME/    or, where there is none, below the user's cache

A folder that nobody locks is what a killed lab left.
"""

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from wirespeed.host.build_cache import cache_folder
from wirespeed.host.closing import Closing
from wirespeed.host.lock import FileLock
from wirespeed.model.error import InputError

LAB_NAME = re.compile(r"[a-z][a-z0-9-]{0,19}")
SSH_CONFIG = "ssh_config"
OWNER = "owner"


def labs_folder() -> Path:
    """Where the folders of this user's labs are; it may not be there yet."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    if base and Path(base).is_absolute() and Path(base).is_dir():
        return Path(base) / "wirespeed/labs"
    return cache_folder() / "labs"


def lab_ssh_configs(host: str) -> list[Path]:
    """Give the ssh_config of the lab of this user that `host` is in, if it is up: `alpha.lab`.

    Of no other: that one may be taken down while it is read.
    """
    folder, name = labs_folder(), host.rpartition(".")[2]
    try:
        if not folder.is_dir() or folder.stat().st_uid != os.getuid():
            return []
        return [path for path in sorted(folder.glob(f"*/{SSH_CONFIG}")) if path.parent.name == name]
    except OSError:
        return []


class LabFolder(Closing):
    """The folder of one lab, locked for as long as its owner lives, and removed with it."""

    def __init__(self, name: str) -> None:
        """Make it. Raises InputError `lab.name`, `lab.exists`, `folder.unusable`."""
        if not LAB_NAME.fullmatch(name):
            raise InputError(
                "lab.name",
                where=name,
                found="invalid name of a lab",
                next="use at most 20 lowercase letters, digits and -, starting with a letter",
            )
        self._closed = False
        self.path = labs_folder() / name
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.path.exists():
                _clear(self.path)
            # Locked before it gets the name that others look for, or they take it for a dead one's.
            unnamed = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=self.path.parent))
            self._lock = FileLock(unnamed / OWNER)
            if not self._lock.acquire():
                raise AssertionError("a folder that was just made is locked")
            try:
                unnamed.rename(self.path)
            except OSError as error:
                holder = FileLock(self.path / OWNER).holder()
                shutil.rmtree(unnamed, ignore_errors=True)
                self._lock.release()
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                raise InputError(
                    "lab.exists",
                    where=name,
                    found=f"a lab of that name is running ({holder})",
                    next=f"run `wirespeed lab down {name}`, or give another --name",
                ) from None
        except OSError as error:
            raise InputError("folder.unusable", where=str(self.path), found=str(error)) from None

    def close(self) -> None:
        """Remove it and unlock; a second call does nothing."""
        if not self._closed:
            self._closed = True
            shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()


def labs_up() -> Iterator[tuple[Path, int]]:
    """Give folder and owner's process id of each lab that is up; clear away dead ones."""
    try:
        folders = sorted(path for path in labs_folder().iterdir() if (path / OWNER).exists())
    except OSError:
        return
    for folder in folders:
        if _clear(folder) or folder.name.startswith("."):
            continue
        holder = FileLock(folder / OWNER).holder().rpartition(" ")[2]
        if holder.isdigit():
            yield folder, int(holder)


def _clear(folder: Path) -> bool:
    """Remove the folder of a lab whose owner is dead; say whether it was."""
    lock = FileLock(folder / OWNER)
    try:
        if not lock.acquire():
            return False
    except OSError:
        return True
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()
    return True
