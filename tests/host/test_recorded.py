import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path
from time import process_time

import pytest

from wirespeed.host.recorded import read_recorded
from wirespeed.model.capture import MAX_CAPTURE_BYTES
from wirespeed.model.error import InputError
from yardstick import is_quick

TEXT = "wirespeed-capture 1 mark\nmark begin x -\n이더넷\n\nmark end 0\nmark done\n"


def slug_of(path: Path, **options: int) -> str:
    with pytest.raises(InputError) as error:
        read_recorded(path, **options)
    return error.value.what


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        b"\xfe\xff" + TEXT.encode("utf-16-be"),
        gzip.compress(TEXT.encode()),
        gzip.compress(TEXT.encode("utf-16")),
    ],
    ids=["utf-8", "utf-8 with mark", "utf-16", "utf-16 big end", "gzip", "gzip of utf-16"],
)
def test_the_text_is_the_same_however_it_was_saved(tmp_path: Path, data: bytes):
    path = tmp_path / "capture"
    path.write_bytes(data)
    assert read_recorded(path) == TEXT


def test_bytes_that_are_no_text_stand_as_such(tmp_path: Path):
    path = tmp_path / "capture"
    path.write_bytes(b"a\xff\xfeb\0c\r\n")
    assert read_recorded(path) == "a\ufffd\ufffdb\0c\r\n"


def test_an_archive_is_to_be_unpacked_first_and_nothing_of_it_is_written(tmp_path: Path):
    archives = tmp_path / "archives"
    archives.mkdir()
    member = tarfile.TarInfo("../../escaped.txt")
    member.size = len(TEXT.encode())
    with tarfile.open(archives / "a.tar", "w") as tar:
        tar.addfile(member, io.BytesIO(TEXT.encode()))
    with tarfile.open(archives / "a.tar.gz", "w:gz") as tar:
        tar.addfile(member, io.BytesIO(TEXT.encode()))
    with tarfile.open(archives / "a.tar.xz", "w:xz") as tar:
        tar.addfile(member, io.BytesIO(TEXT.encode()))
    with zipfile.ZipFile(archives / "a.zip", "w") as archive:
        archive.writestr("../../escaped.txt", TEXT)
    for path in sorted(archives.iterdir()):
        assert slug_of(path) == "capture.archive", path.name
    assert sorted(tmp_path.iterdir()) == [archives]


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path):
    path = tmp_path / "capture"
    path.write_bytes(b"x" * 1001)
    assert slug_of(path, max_bytes=1000) == "capture.too_large"
    assert read_recorded(path, max_bytes=1001) == "x" * 1001


def test_a_line_of_100_mb_is_refused_at_once(tmp_path: Path):
    path = tmp_path / "capture"
    with path.open("wb") as file:
        file.write(b"wirespeed-capture 1 mark\n")
        file.truncate(100 << 20)
    started = process_time()
    assert slug_of(path) == "capture.too_large"
    assert is_quick(process_time() - started, loops=20)


def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path: Path):
    path = tmp_path / "capture.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range((MAX_CAPTURE_BYTES >> 20) + 1):
            file.write(bytes(1 << 20))
    assert path.stat().st_size < 1 << 20
    assert slug_of(path) == "capture.too_large"


def test_a_torn_gzip_gives_what_is_left_and_a_corrupt_one_is_said_to_be_damaged(tmp_path: Path):
    path = tmp_path / "capture.gz"
    lines = "".join(f"line {number}\n" for number in range(1000))
    whole = gzip.compress(lines.encode())
    path.write_bytes(whole[: len(whole) // 2])
    assert lines.startswith(read_recorded(path)[:-1])
    path.write_bytes(whole[:20] + b"\xff" * 100 + whole[120:])
    assert slug_of(path) == "capture.damaged"


def test_what_is_no_file_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        assert slug_of(path) == "file.unreadable", path
