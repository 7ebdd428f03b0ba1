"""A file of ours: written whole, kept as it was, removed when it was not there."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from described_files import DescribedFiles
from proof import prove
from pydantic import ValidationError

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
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


@pytest.mark.parametrize("old", [None, "old = 1\n", "without an end"])
def test_a_failure_of_the_power_leaves_the_whole_file(old: str | None):
    """fsync(2): a file's content, and its name in the folder, are two things to be flushed."""
    host = Described({} if old is None else {PATH: old})
    for now, to in (({"content": old}, {"content": NEW}), ({"content": NEW}, {"content": old})):
        for command in STEP.change(now, to):
            assert not host.run(command).returncode
        assert host.durable == ({} if to["content"] is None else {PATH: to["content"]})


def test_a_file_in_memory_is_not_flushed():
    step = STEP.model_copy(update={"path": "/run/wirespeed-x.done"})
    words = [c.argv[0] for c in step.change({"content": None}, {"content": NEW})]
    assert words == ["tee", "mv"]


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


def test_mode_and_owner_of_a_file_stay_there_and_back(tmp_path: Path):
    """By real commands, on a file elsewhere."""
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    if os.getuid() == 0:
        os.chown(path, 12345, 54321)
    before = path.stat()
    old, new = {"content": "old"}, {"content": NEW}
    for now, to in ((old, new), (new, old)):
        run(STEP.change(now, to), path)
        after = path.stat()
        assert path.read_text() == to["content"]
        assert (after.st_mode, after.st_uid, after.st_gid) == (
            before.st_mode, before.st_uid, before.st_gid,
        )  # fmt: skip
    assert list(tmp_path.iterdir()) == [path]


def test_networkd_which_is_not_root_reads_a_new_file_whatever_the_umask(tmp_path: Path):
    """By real commands. systemd-networkd.service has User=systemd-network."""
    step = FileContent(path=PATH, content=NEW, reason="x", read_by="networkd")
    path = tmp_path / "file"
    commands = [c for c in step.change({"content": None}, {"content": NEW}) if PATH in str(c.argv)]
    run(commands, path, umask=0o077)
    assert path.read_text() == NEW
    assert path.stat().st_mode & 0o777 == 0o644


def run(commands: Sequence[Command], path: Path, umask: int = -1) -> None:
    """Run what a step does to its file on the file `path`."""
    for command in commands:
        argv = [word.replace(PATH, str(path)) for word in command.argv]
        text = None if command.stdin is None else command.stdin + "\n"
        subprocess.run(
            argv, input=text, text=True, check=True, stdout=subprocess.DEVNULL, umask=umask
        )
