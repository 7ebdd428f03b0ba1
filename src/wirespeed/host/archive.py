"""Reads chosen files out of a tar archive that somebody carried here; nothing is unpacked to disk.

Plain, gzip, bzip2 and xz. Links in it are not followed, and names in it are never paths here.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from wirespeed.host.tar_members import BLOCK, MAGIC, DamagedTarError, NotATarError, tar_members
from wirespeed.host.unpacked import DAMAGE, TooLargeError, Unpacked, decompressor
from wirespeed.model.capture import MAX_CAPTURE_BYTES, MAX_SECTION_CHARACTERS
from wirespeed.model.error import InputError

MAX_UNPACKED_BYTES = 8 << 30
FREE_BYTES, MAX_RATIO = 512 << 20, 32
"""Zeros unpack to a thousand times as many bytes, a log to ten; a gigabyte takes 2 s."""
MAX_MEMBERS = 200_000
"""A sosreport of 256 CPUs has 40,000."""
MAX_NAME_CHARACTERS = 4096


def read_archive(
    path: Path, is_wanted: Callable[[str], bool], max_unpacked_bytes: int = MAX_UNPACKED_BYTES
) -> dict[str, str] | None:
    """Give the wanted files by their name below the archive's one top folder; None: not a tar.

    Raises InputError `file.unreadable`, `capture.damaged`, `capture.too_large`.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise InputError("file.unreadable", where=str(path), found=str(error)) from None
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return None
        head = file.read(BLOCK)
        file.seek(0)
        unpack = decompressor(head)
        if unpack is None and head[MAGIC] != b"ustar":
            return None
        most = min(max_unpacked_bytes, FREE_BYTES + MAX_RATIO * found.st_size)
        try:
            return _read(Unpacked(file, unpack, most), is_wanted)
        except NotATarError:
            return None  # compressed, and not a tar: a capture in gzip
        except TooLargeError as error:
            raise InputError(
                "capture.too_large",
                where=str(path),
                found=str(error),
                so="no host has that much data: it is not a sosreport, or it is damaged",
            ) from None
        except (DamagedTarError, *DAMAGE) as error:
            raise InputError(
                "capture.damaged",
                where=str(path),
                found=str(error) or type(error).__name__,
                next="copy it again: it is truncated or corrupted",
            ) from None


def _read(stream: Unpacked, is_wanted: Callable[[str], bool]) -> dict[str, str]:
    found: dict[str, str] = {}
    gathered = 0
    try:
        for count, member in enumerate(tar_members(stream), 1):
            if count > MAX_MEMBERS:
                raise TooLargeError(f"it has more than {MAX_MEMBERS} files")
            if stream.position + member.size > stream.limit:
                raise stream.too_large()
            name = _below_top(member.name)
            if len(name) > MAX_NAME_CHARACTERS or not member.is_file or name in found:
                continue
            if not is_wanted(name):
                continue
            gathered += min(member.size, MAX_SECTION_CHARACTERS)
            if gathered > MAX_CAPTURE_BYTES:
                raise TooLargeError(f"more than {MAX_CAPTURE_BYTES >> 20} MiB of it are to be read")
            found[name] = member.read(MAX_SECTION_CHARACTERS).decode("utf-8", errors="replace")
    except DAMAGE as error:
        if not stream.position:
            raise NotATarError from error
        raise
    return found


def _below_top(name: str) -> str:
    """`sosreport-alpha-2026/proc/cmdline` is `proc/cmdline`."""
    return name.removeprefix("./").partition("/")[2]
