"""The files in a tar archive, one after the other, in time and memory of what is read of each.

POSIX.1-2017, pax, "ustar Interchange Format" and "pax Header Block"; tar(5) of libarchive for GNU's
long names and holes. Python's own tarfile takes the length of a header at its word, which may be
4 GiB, takes the square of the time for some, and keeps every header. What has holes (`tar -S`) is
passed over: no file that is wanted has any.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

BLOCK = 512
MAGIC = slice(257, 262)
MAX_HEADER_BYTES = 1 << 20
"""Of a long name, or of what pax says of one file: extended attributes are 64 KiB at most."""
CHUNK_BYTES = 1 << 18
FILE, CONTIGUOUS, OLD_FILE = b"0", b"7", b"\0"
LONG_NAME, LONG_LINK, HOLES = b"L", b"K", b"S"
PAX, PAX_OF_ALL, PAX_OF_SOLARIS = b"x", b"g", b"X"
WITHOUT_DATA = (b"1", b"2", b"3", b"4", b"5", b"6")
"""Links, devices, folders and FIFOs, whatever their size says."""


class Stream(Protocol):
    """What is read from: at most `size` bytes, none at the end."""

    def read(self, size: int) -> bytes:
        """Read on."""
        ...


class DamagedTarError(Exception):
    """It is cut off, or not sound."""


class NotATarError(DamagedTarError):
    """Its first 512 bytes are no header."""


@dataclass(slots=True)
class TarMember:
    """One file; its content is read before the next is asked for, or not at all."""

    name: str
    size: int
    is_file: bool
    _stream: Stream
    rest: int
    """Bytes that were not read yet, with those that fill the last block."""

    def read(self, most: int) -> bytes:
        """Give the first bytes of the content."""
        data = _exactly(self._stream, min(most, self.size))
        self.rest -= len(data)
        return data


def tar_members(stream: Stream) -> Iterator[TarMember]:
    """Give each member. Raises DamagedTarError, NotATarError, and what `stream` raises."""
    name, said = "", dict[str, str]()
    try:
        block = _block(stream)
    except DamagedTarError as error:
        raise NotATarError(*error.args) from None
    # An archive without its end is taken, as tar does; one that ends within a file is not.
    while any(block):
        kind, size = block[156:157], _number(block[124:136])
        if kind in (LONG_NAME, PAX):
            data = _header(stream, size)
            if kind == PAX:
                said = _pax(data)
            else:
                name = _text(data.partition(b"\0")[0])
            block = _block(stream)
            continue
        if kind == HOLES:
            _skip_map(stream, block)
        elif kind in (LONG_LINK, PAX_OF_ALL, PAX_OF_SOLARIS):
            _header(stream, size)
            block = _block(stream)
            continue
        elif kind in WITHOUT_DATA:
            size = 0
        elif "size" in said:
            size = _decimal(said["size"])
        has_holes = any(key.startswith("GNU.sparse.") for key in said)
        is_file = kind in (FILE, CONTIGUOUS, OLD_FILE) and not has_holes
        member = TarMember(
            said.get("path") or name or _name(block), size, is_file, stream, _filled(size)
        )
        name, said = "", {}
        yield member
        _skip(stream, member.rest)
        block = _block(stream)


def _block(stream: Stream) -> bytes:
    """Give the next header; nothing at the end. Its checksum is the only sign that it is one."""
    block = _some(stream, BLOCK)
    if block and len(block) < BLOCK:
        raise DamagedTarError("it ends within the header of a file")
    if any(block):
        total = sum(block) - sum(block[148:156]) + 8 * ord(" ")
        if _number(block[148:156]) != total:
            raise DamagedTarError("the header of a file in it is damaged")
    return block


def _number(field: bytes) -> int:
    """Read octal digits, or since POSIX.1-2001 GNU's binary number where the first bit is set."""
    if field[0] & 0x80:
        number = int.from_bytes(field[1:], "big") if field[0] == 0x80 else -1
    else:
        digits = field.partition(b"\0")[0].strip()
        is_octal = digits.isdigit() and not digits.strip(b"01234567")
        number = int(digits, 8) if is_octal else -1 if digits else 0
    if number < 0:
        raise DamagedTarError("a size in it is not a number")
    return number


def _decimal(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 20):
        raise DamagedTarError("a size in it is not a number")
    return int(text)


def _name(block: bytes) -> str:
    name = block[:100].partition(b"\0")[0]
    prefix = block[345:500].partition(b"\0")[0] if block[257:263] == b"ustar\0" else b""
    return _text(prefix + b"/" + name if prefix else name)


def _pax(data: bytes) -> dict[str, str]:
    """Read records of `LENGTH KEY=VALUE` and a line end."""
    found: dict[str, str] = {}
    at = 0
    while at < len(data):
        space = data.find(b" ", at, at + 8)
        digits = data[at:space] if space > 0 else b""
        length = int(digits) if digits.isdigit() else 0
        if length <= len(digits) + 1 or at + length > len(data):
            raise DamagedTarError("what pax says of a file in it is damaged")
        key, _, value = data[space + 1 : at + length - 1].partition(b"=")
        found[_text(key)] = _text(value)
        at += length
    return found


def _header(stream: Stream, size: int) -> bytes:
    if size > MAX_HEADER_BYTES:
        raise DamagedTarError(f"the header of a file in it claims to have {size} bytes")
    data = _exactly(stream, _filled(size))
    return data[:size]


def _skip_map(stream: Stream, block: bytes) -> None:
    """Pass over the map of holes: blocks of 21 each, as long as the last byte but seven is set."""
    is_more = block[482]
    for _ in range(MAX_HEADER_BYTES // BLOCK):
        if not is_more:
            return
        is_more = _exactly(stream, BLOCK)[504]
    raise DamagedTarError("the map of a file with holes in it has no end")


def _skip(stream: Stream, count: int) -> None:
    while count:
        data = stream.read(min(count, CHUNK_BYTES))
        if not data:
            raise DamagedTarError("it ends within a file")
        count -= len(data)


def _exactly(stream: Stream, count: int) -> bytes:
    data = _some(stream, count)
    if len(data) < count:
        raise DamagedTarError("it ends within a file")
    return data


def _some(stream: Stream, count: int) -> bytes:
    parts: list[bytes] = []
    while count and (data := stream.read(min(count, CHUNK_BYTES))):
        parts.append(data)
        count -= len(data)
    return b"".join(parts)


def _filled(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")
