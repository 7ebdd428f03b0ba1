"""What a compressed file unpacks to, read as a stream within two limits: bytes and memory.

Of gzip, bzip2 and xz, one stream of each; a file that is not compressed is given as it is.
"""

import bz2
import lzma
import zlib
from typing import BinaryIO, Protocol

CHUNK_BYTES = 1 << 18
XZ_MEMORY_BYTES = 160 << 20
"""`xz -9` needs 65 MiB to unpack; a file can ask for 4 GiB (xz(1), its header has the size)."""
GZIP, BZIP2, XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ"
DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)
"""What reading raises where the file is cut off, or no such file, or asks for too much memory."""


class TooLargeError(Exception):
    """More is to be read than the limit."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """zlib's, as bz2 and lzma have theirs."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)
        self._is_full = False

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not (self._is_full or self._zlib.unconsumed_tail)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        made = self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)
        # All input may be taken though output is still to come.
        self._is_full = len(made) == max_length
        return made


def decompressor(head: bytes) -> _Decompressor | None:
    """Give what unpacks a file that begins so; None: it is not compressed."""
    if head.startswith(GZIP):
        return _Gzip()
    if head.startswith(BZIP2):
        return bz2.BZ2Decompressor()
    if head.startswith(XZ):
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY_BYTES)
    return None


class Unpacked:
    """Reads on from where `file` stands. Raises TooLargeError beyond `limit`, and DAMAGE."""

    def __init__(self, file: BinaryIO, unpack: _Decompressor | None, limit: int) -> None:
        self._file, self._unpack = file, unpack
        self.limit = limit
        self.position = 0

    def read(self, size: int) -> bytes:
        """Give at most `size` bytes, and at least one before the end."""
        if self.position > self.limit:
            raise self.too_large()
        data = self._file.read(size) if self._unpack is None else self._unpacked(size, self._unpack)
        self.position += len(data)
        return data

    def too_large(self) -> TooLargeError:
        """Say that there is more than the limit."""
        return TooLargeError(f"unpacked it has more than {self.limit >> 20} MiB")

    def _unpacked(self, size: int, unpack: _Decompressor) -> bytes:
        while not unpack.eof:
            packed = self._file.read(CHUNK_BYTES) if unpack.needs_input else b""
            data = unpack.decompress(packed, size)
            if data:
                return data
            if not packed and unpack.needs_input and not unpack.eof:
                raise EOFError("it ends within what is compressed")
        return b""
