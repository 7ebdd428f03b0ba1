"""Reads a capture that somebody carried here, whatever file they made of it.

UTF-8 with or without a mark, UTF-16 with one (as PowerShell's `>` writes), and gzip are read. An
archive is not: which of its files would be meant, and where would the others go?
"""

import os
import stat
import zlib
from pathlib import Path

from wirespeed.host.read_limit import LimitedBytes
from wirespeed.model.capture import MAX_CAPTURE_BYTES
from wirespeed.model.error import InputError

_CHUNK_BYTES = 1 << 20
GZIP = b"\x1f\x8b"
ARCHIVES = {
    b"PK\x03\x04": "a zip archive",
    b"\xfd7zXZ": "compressed with xz",
    b"BZh": "compressed with bzip2",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"7z\xbc\xaf": "a 7z archive",
}
TAR_MAGIC = slice(257, 262)


def read_recorded(path: Path, max_bytes: int = MAX_CAPTURE_BYTES) -> str:
    """Give the text of a capture file; nothing of it is written anywhere.

    Raises InputError `file.unreadable`, `capture.too_large`, `capture.archive`, `capture.damaged`.
    """
    data = _read(path, max_bytes)
    if data.startswith(GZIP):
        data = _unzipped(data, path, max_bytes)
    for magic, kind in ARCHIVES.items():
        if data.startswith(magic):
            raise _archive(path, kind)
    if data[TAR_MAGIC] == b"ustar":
        raise _archive(path, "a tar archive")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    return data.decode("utf-8-sig", errors="replace")


def _read(path: Path, max_bytes: int) -> bytes:
    try:
        # A pipe that nobody writes to must not hold us up.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _unreadable(path, str(error)) from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _unreadable(path, "it is not a regular file")
    with os.fdopen(fd, "rb") as file:
        gathered = LimitedBytes(max_bytes)
        try:
            while chunk := file.read(_CHUNK_BYTES):
                if not gathered.add(chunk):
                    raise _too_large(path, max_bytes)
        except OSError as error:
            raise _unreadable(path, str(error)) from None
    return gathered.bytes()


def _unzipped(data: bytes, path: Path, max_bytes: int) -> bytes:
    """Unpack at most `max_bytes`: a small file may hold petabytes of zeros."""
    unpack = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpack.decompress(data, max_bytes + 1)
    except zlib.error as error:
        raise InputError(
            "capture.damaged",
            where=str(path),
            found=f"gzip: {error}",
            next="unpack as much as possible with gunzip, and give the resulting file",
        ) from None
    if len(unpacked) > max_bytes:
        raise _too_large(path, max_bytes)
    return unpacked


def _unreadable(path: Path, found: str) -> InputError:
    return InputError("file.unreadable", where=str(path), found=found)


def _too_large(path: Path, max_bytes: int) -> InputError:
    return InputError(
        "capture.too_large",
        where=str(path),
        found=f"more than {max_bytes >> 20} MiB",
        so="no host has that much data: it is not a capture, or it is damaged",
    )


def _archive(path: Path, kind: str) -> InputError:
    return InputError(
        "capture.archive",
        where=str(path),
        found=f"it is {kind}; captures are read as text or as .gz",
        next="unpack it and give the capture inside",
    )
