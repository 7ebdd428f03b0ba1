"""Reads chosen files out of a tar archive that somebody carried here; nothing is unpacked to disk.

Plain, gzip, bzip2 and xz. Links in it are not followed, and names in it are never paths here.
"""

import lzma
import os
import stat
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

from wirespeed.model.capture import MAX_CAPTURE_BYTES, MAX_SECTION_CHARACTERS
from wirespeed.model.error import InputError

MAX_UNPACKED_BYTES = 8 << 30
MAX_MEMBERS = 1_000_000
MAGIC_BYTES = 512
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
TAR_MAGIC = slice(257, 262)
DAMAGE = (tarfile.TarError, EOFError, OSError, lzma.LZMAError, zlib.error)


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
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        head = file.read(MAGIC_BYTES)
        is_plain = head[TAR_MAGIC] == b"ustar"
        if not is_plain and not head.startswith(COMPRESSED):
            return None
        file.seek(0)
        try:
            archive = tarfile.open(fileobj=file, mode="r|*")  # noqa: SIM115
        except DAMAGE:
            return None  # compressed, and not a tar: a capture in gzip
        with archive:
            try:
                return _read(archive, path, is_wanted, max_unpacked_bytes)
            except DAMAGE as error:
                raise InputError(
                    "capture.damaged",
                    where=str(path),
                    found=str(error) or type(error).__name__,
                    next="copy it again: it is truncated or corrupted",
                ) from None


def _read(
    archive: tarfile.TarFile, path: Path, is_wanted: Callable[[str], bool], max_unpacked_bytes: int
) -> dict[str, str]:
    found: dict[str, str] = {}
    gathered = 0
    for count, member in enumerate(archive):
        if member.offset_data + member.size > max_unpacked_bytes or count > MAX_MEMBERS:
            raise _too_large(path, f"unpacked it has more than {max_unpacked_bytes >> 20} MiB")
        name = _below_top(member.name)
        if not member.isreg() or name in found or not is_wanted(name):
            continue
        gathered += min(member.size, MAX_SECTION_CHARACTERS)
        if gathered > MAX_CAPTURE_BYTES:
            raise _too_large(path, f"more than {MAX_CAPTURE_BYTES >> 20} MiB of it are to be read")
        content = archive.extractfile(member)
        data = content.read(MAX_SECTION_CHARACTERS) if content else b""
        found[name] = data.decode("utf-8", errors="replace")
    return found


def _below_top(name: str) -> str:
    """`sosreport-alpha-2026/proc/cmdline` is `proc/cmdline`."""
    return name.removeprefix("./").partition("/")[2]


def _too_large(path: Path, found: str) -> InputError:
    return InputError(
        "capture.too_large",
        where=str(path),
        found=found,
        so="no host has that much data: it is not a sosreport, or it is damaged",
    )
