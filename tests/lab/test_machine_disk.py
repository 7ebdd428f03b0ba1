"""The disk of a lab's host is an ext4 that takes no more than is written to it."""

from pathlib import Path

import pytest

from wirespeed.lab.machine_image import make_disk
from wirespeed.model.error import MeasurementError

MAGIC_AT = 1024 + 0x38
"""s_magic of the superblock: Documentation/filesystems/ext4/super.rst."""
FEATURES_AT, HAS_JOURNAL = 1024 + 0x5C, 0x4
"""s_feature_compat: a host whose power fails finds its files as they were synced."""


def test_it_is_an_ext4_of_a_gigabyte_in_little_space(tmp_path: Path):
    path = tmp_path / "alpha.disk"
    make_disk(path)
    with path.open("rb") as disk:
        disk.seek(MAGIC_AT)
        assert disk.read(2) == b"\x53\xef"
        disk.seek(FEATURES_AT)
        assert int.from_bytes(disk.read(4), "little") & HAS_JOURNAL
    found = path.stat()
    assert found.st_size == 1 << 30
    assert found.st_blocks * 512 < 40 << 20


def test_why_it_could_not_be_made_is_told(tmp_path: Path):
    with pytest.raises(MeasurementError) as caught:
        make_disk(tmp_path / "nowhere" / "alpha.disk")
    assert caught.value.what == "lab.disk"
    assert "No such file or directory" in caught.value.found
