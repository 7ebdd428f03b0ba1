"""A file of ours: written whole, kept as it was, removed when it was not there."""

import pytest
from described_files import DescribedFiles
from proof import prove
from pydantic import ValidationError

from wirespeed.model.capture import Section
from wirespeed.model.observed import Known, Unreadable
from wirespeed.steps.file_content import FileContent

PATH = "/etc/sysctl.d/60-wirespeed.conf"
NEW = "vm.swappiness = 0\nvm.zone_reclaim_mode = 0\n"
STEP = FileContent(path=PATH, content=NEW, reason="no swapping")


class Described(DescribedFiles):
    """A kill may leave the file that is written beside: under a name that nothing reads."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Described) and self._read() == other._read()

    def _read(self) -> dict[str, str]:
        return {p: c for p, c in self.files.items() if not p.endswith(".wirespeed")}


def test_it_is_made_and_removed():
    prove(STEP, Described({}), Described({PATH: NEW}))


@pytest.mark.parametrize("old", ["old = 1\n", "old = 1\n\n", "", "without an end", "\n"])
def test_what_stood_there_comes_back(old: str):
    prove(STEP, Described({PATH: old}), Described({PATH: NEW}))


def state_of(output: str = "", errors: str = "", code: int | None = 0) -> object:
    return STEP.parse(Section("step", PATH, output, errors, code))


def test_denied_is_not_absent():
    denied = state_of(errors=f"cat: {PATH}: Permission denied", code=1)
    assert isinstance(denied, Unreadable) and "denied" in denied.reason
    absent = state_of(errors=f"cat: {PATH}: No such file or directory", code=1)
    assert isinstance(absent, Known) and absent.value == {"content": None}


@pytest.mark.parametrize("path", ["/usr/lib/x", "/etc/../root/x", "etc/x"])
def test_only_files_of_ours_are_written(path: str):
    with pytest.raises(ValidationError):
        FileContent(path=path, content=NEW, reason="x")
