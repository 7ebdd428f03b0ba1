"""Errors that say what, where, found, so, next. Only `cli` formats them."""

from typing import ClassVar, Final

USUAL_NEXT: Final = {
    "cache.unusable": "check that this user may write there, and that the disk is not full",
    "capture.too_large": "check the file, or make a new one with `wirespeed capture`",
    "command.timeout": "run that command by hand to see what it waits for",
    "dut.refused": "fix what the message names, then run the same command again",
    "folder.unusable": "check that the folder belongs to this user, that it may be written to, and "
    "that the disk is not full",
    "file.unreadable": "check the path, and that this user may read it",
    "file.unwritable": "check that its folder exists, that this user may write there, and that "
    "the disk is not full",
}
"""What to do next about an error that has the same remedy wherever it is raised."""


class WirespeedError(Exception):
    """Something that a user can act on.

    `what` is a slug such as `tester.died`; `where` the port, file or host; `found` what was seen
    and its source; `so` what follows; `next` what to do, by default that of USUAL_NEXT.
    """

    exit_code: ClassVar[int] = 1

    def __init__(
        self, what: str, *, where: str = "", found: str = "", so: str = "", next: str = ""
    ) -> None:
        super().__init__(f"{what} {where}: {found}")
        self.what, self.where, self.found, self.so = what, where, found, so
        self.next = next or USUAL_NEXT.get(what, "")


class InputError(WirespeedError):
    """The request itself cannot be carried out: exit code 2."""

    exit_code: ClassVar[int] = 2


class MeasurementError(WirespeedError):
    """A trial or a search could not be brought to a verdict: exit code 1."""


class HostError(WirespeedError):
    """A host could not be reached, or could not be read once it was: exit code 2."""

    exit_code: ClassVar[int] = 2


class ApplyError(WirespeedError):
    """A plan was not carried out, and the hosts are as they were before: exit code 1."""


class LeftChangedError(WirespeedError):
    """A host was left changed: exit code 3. It outranks the error that led to it."""

    exit_code: ClassVar[int] = 3
