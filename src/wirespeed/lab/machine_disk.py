"""The disk of a lab's host: an empty ext4, in a file that takes no more than is written to it."""

from pathlib import Path

from wirespeed.host.files import find_program
from wirespeed.host.local import LocalRunner
from wirespeed.model.error import InputError, MeasurementError

SIZE = "1G"
MAKE_S = 30.0


def make_disk(path: Path) -> None:
    """Make it. Raises InputError `lab.tools`, MeasurementError `lab.disk`."""
    program = find_program("mkfs.ext4") or find_program("/usr/sbin/mkfs.ext4")
    if program is None:
        raise InputError(
            "lab.tools", found="not installed: e2fsprogs", next="apt-get install e2fsprogs"
        )
    # With a journal, as a host's: nobody checks the disk of a host whose power failed, and without
    # either of the two a file that was synced may be gone.
    options = ("-q", "-F", "-J", "size=8", "-E", "lazy_itable_init=1")
    done = LocalRunner().run([program, *options, str(path), SIZE], timeout_s=MAKE_S)
    if done.returncode != 0:
        raise MeasurementError("lab.disk", where=str(path), found=done.errors.strip()[-400:])
