"""Makes a folder once and for all users of a cache, whoever comes first."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from wirespeed.host.lock import FileLock
from wirespeed.model.error import InputError, MeasurementError


def cache_folder() -> Path:
    """Give `$XDG_CACHE_HOME/wirespeed`, or `~/.cache/wirespeed`."""
    base = os.environ.get("XDG_CACHE_HOME")
    # The XDG base directory specification: a relative path is invalid and is ignored.
    root = Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache"
    return root / "wirespeed"


def build_once(target: Path, build: Callable[[Path], None], *, timeout_s: float) -> Path:
    """Give `target`, made by `build` in an empty folder if it is not there yet.

    It appears whole or not at all. Two builders take turns: the second waits at most `timeout_s`
    and then finds it done. What `build` raises leaves nothing behind.
    """
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(target.parent / f".{target.name}.lock")
        acquired = lock.acquire(timeout_s)
    except OSError as error:
        raise InputError("cache.unusable", where=str(target.parent), found=str(error)) from None
    if not acquired:
        raise MeasurementError(
            "cache.busy",
            where=str(target),
            found=f"{lock.holder()} has been building it for {timeout_s:g} s",
            next="wait for that process, or end it",
        )
    try:
        if target.is_dir():
            return target
        # Of builders that were killed: nobody else builds while the lock is ours.
        for orphan in target.parent.glob(f".{target.name}.*/"):
            shutil.rmtree(orphan, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            build(draft)
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    finally:
        lock.release()
    return target
