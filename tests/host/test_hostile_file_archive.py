"""Archives in the worst shapes of their kind: read or refused in seconds, by one error of ours."""

import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path

import pytest

from hostile_reader import wirespeed

DAMAGED, LARGE, OTHER = "capture.damaged", "capture.too_large", "capture.archive"
GIB, CHUNK = 1 << 30, 1 << 22


def sealed(block: bytes) -> bytes:
    """Give a header with its checksum."""
    total = sum(block[:148]) + 8 * ord(" ") + sum(block[156:])
    return block[:148] + b"%06o\0 " % total + block[156:]


def header(kind: bytes, size: int, name: str = "top/a") -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


def member(data: bytes = b"", kind: bytes = tarfile.REGTYPE) -> bytes:
    return header(kind, len(data)) + data + bytes(-len(data) % 512)


def pax(*records: str) -> bytes:
    return member("".join(records).encode(), tarfile.XHDTYPE)


def pack(path: Path, parts: Iterable[bytes], zeros: int = 0) -> Path:
    """Write gzip, and so many bytes of zeros behind: these are packed once, and repeated."""
    packer = zlib.compressobj(1, wbits=31)
    data = packer.compress(b"".join(parts))
    if not zeros:
        path.write_bytes(data + packer.flush())
        return path
    with path.open("wb") as file:
        file.write(data + packer.flush(zlib.Z_FULL_FLUSH))
        raw = zlib.compressobj(1, wbits=-15)
        chunk = raw.compress(bytes(CHUNK)) + raw.flush(zlib.Z_FULL_FLUSH)
        for _ in range(zeros // CHUNK):
            file.write(chunk)
    return path


NO_END = bytearray(header(tarfile.GNUTYPE_SPARSE, 0))
NO_END[482] = 1
HOLES = bytes(504) + b"\1" + bytes(7)
SHAPES: dict[str, tuple[Iterable[bytes], int, str]] = {
    "a pax header of 4 GiB": ([header(tarfile.XHDTYPE, 4 * GIB)], GIB, DAMAGED),
    "a long name of 4 GiB": ([header(tarfile.GNUTYPE_LONGNAME, 4 * GIB)], GIB, DAMAGED),
    "a global header of 4 GiB": ([header(tarfile.XGLTYPE, 4 * GIB)], GIB, DAMAGED),
    "a file of 8 TiB": ([header(tarfile.REGTYPE, 8 * GIB << 10)], 0, LARGE),
    "4 GiB of zeros": ([header(tarfile.REGTYPE, 4 * GIB)], 4 * GIB, LARGE),
    "200,001 files": ([header(tarfile.REGTYPE, 0)] * 200_001, 0, LARGE),
    "a map of holes without numbers": (
        [pax("26 GNU.sparse.map=foo,bar\n"), member(b"x")], 0, OTHER,
    ),
    "a map of holes of GNU 1.0 without numbers": (
        [pax("22 GNU.sparse.major=1\n", "22 GNU.sparse.minor=0\n"), member(b"x\ny\n")], 0, OTHER,
    ),
    "a map of holes without an end": ([sealed(bytes(NO_END)), *[HOLES] * 40_000], 0, DAMAGED),
    "a size of pax that is no number": ([pax("9 size=x\n"), member()], 0, DAMAGED),
    "a record of pax that is too short": ([pax("25 GNU.sparse.map=foo,bar\n")], 0, DAMAGED),
    "a negative size": (
        [sealed(header(tarfile.REGTYPE, 1).replace(b"00000000001", b"\xff" * 11))], 0, DAMAGED,
    ),
    "headers of digits": ([member(b"1" * 1_000_000, tarfile.XHDTYPE)] * 20, 0, DAMAGED),
    "headers of headers": ([pax("9 path=a\n")] * 20_000, 0, OTHER),
    "names of a megabyte": (
        [member(b"a/" * 500_000, tarfile.GNUTYPE_LONGNAME), member()] * 19, 0, OTHER,
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hostile_file_is_an_archive_with(shape: str, tmp_path: Path):
    parts, zeros, what = SHAPES[shape]
    done = wirespeed("doctor", pack(tmp_path / "sosreport.tar.gz", parts, zeros))
    assert done.refuses(what), (done.stderr[-500:], done.seconds, done.peak_mb)


def test_a_hostile_file_wants_4_gib_to_be_unpacked_by_xz(tmp_path: Path):
    packed = bytearray(lzma.compress(member(b"x"), preset=0))
    # The .xz file format, 3.1: size, flags, filter, its properties' size, the dictionary's.
    assert packed[14:16] == b"\x21\x01"
    packed[16] = 40
    end = 12 + 4 * packed[12]
    packed[end : end + 4] = zlib.crc32(packed[12:end]).to_bytes(4, "little")
    path = tmp_path / "sosreport.tar.xz"
    path.write_bytes(packed)
    done = wirespeed("doctor", path)
    assert done.refuses(OTHER) and done.peak_mb < 100


@pytest.mark.parametrize("name", ["a.tar.gz", "a.tar.bz2", "a.tar.xz"])
def test_a_hostile_file_unpacks_to_noise(name: str, tmp_path: Path):
    """It is no tar at all, as the first 512 bytes show."""
    unlike = b"\1" * (4 << 20)
    packed = {"gz": gzip.compress(unlike, 1), "xz": lzma.compress(unlike, preset=0)}
    (tmp_path / name).write_bytes(packed.get(name[-2:], b"BZh9" + unlike))
    done = wirespeed("doctor", tmp_path / name)
    assert done.returncode == 2 and "Traceback" not in done.stderr and done.is_bounded


def test_what_gnu_and_pax_write_is_read(tmp_path: Path):
    """By Python's own writer, in each of its formats; long names, other letters, links, holes."""
    from wirespeed.host.archive import read_archive

    long = "sys/devices/" + "a" * 150 + "/é"
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        path = tmp_path / f"{form}.tar"
        with tarfile.open(path, "w", format=form) as archive:
            for name in (long, "proc/cmdline"):
                one = tarfile.TarInfo(f"top/{name}")
                one.size = len(name.encode())
                archive.addfile(one, io.BytesIO(name.encode()))
        assert read_archive(path, lambda _: True) == {long: long, "proc/cmdline": "proc/cmdline"}
