"""What is kept for a while: find it, and remove what is no longer wanted."""

import os
import shutil
from pathlib import Path


def newest_folders(parent: Path, prefix: str) -> list[Path]:
    """Folders in `parent` whose names start with `prefix`, the newest first."""
    try:
        found = [path for path in parent.glob(f"{prefix}*") if path.is_dir()]
        return sorted(found, key=lambda path: path.stat().st_mtime_ns, reverse=True)
    except OSError:
        return []


def remove_folder(path: Path) -> None:
    """Remove it with all that is in it, as far as that goes."""
    shutil.rmtree(path, ignore_errors=True)


def may_read_and_write(path: Path) -> bool:
    """Tell whether the kernel lets us do both."""
    return os.access(path, os.R_OK | os.W_OK)
