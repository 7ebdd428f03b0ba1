"""A file for what a process says before it fails, gone when that is settled."""

import os
import tempfile
from pathlib import Path

from wirespeed.host.closing import Closing
from wirespeed.host.folder import temporary_folder

TAIL_BYTES = 2000


class PrivateLog(Closing):
    """A temporary file of our own; the process that has it open writes on when it is removed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def tail(self) -> str:
        """Give the last that was said."""
        return self.path.read_bytes()[-TAIL_BYTES:].decode(errors="replace").strip()

    def close(self) -> None:
        """Remove the name; a second call does nothing."""
        self.path.unlink(missing_ok=True)


def private_log() -> PrivateLog:
    """Make an empty one. Raises InputError `folder.unusable`."""
    fd, name = tempfile.mkstemp(prefix="wirespeed-", suffix=".log", dir=temporary_folder())
    os.close(fd)
    return PrivateLog(Path(name))
