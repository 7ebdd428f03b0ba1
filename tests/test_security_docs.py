"""docs/security.md: paths, modes and names on it are those of the code."""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from wirespeed.apply.control_script import LOCK, lock_script
from wirespeed.apply.guard_timer import FOLDER, TIMER, arm_script
from wirespeed.apply.host_copy_script import FOLDER as COPIES
from wirespeed.apply.persist import persist_name
from wirespeed.apply.run import JOURNAL, open_run
from wirespeed.apply.run_file import RUN
from wirespeed.apply.run_place import new_run_folder
from wirespeed.host.files import write_whole
from wirespeed.host.folder import PrivateFolder
from wirespeed.host.lab_folders import LabFolder
from wirespeed.host.secret import PASSWORDS
from wirespeed.host.ssh_guest import own_key
from wirespeed.host.state import state_folder
from wirespeed.host.vsphere import CA as VSPHERE_CA
from wirespeed.host.vsphere import THUMBPRINT
from wirespeed.host.winrm import CA as WINRM_CA
from wirespeed.model.command import Command
from wirespeed.platforms.esxi.control import ESXI_LOCK
from wirespeed.platforms.windows.control_script import LOCK as WINDOWS_LOCK
from wirespeed.steps.file_content import ROOTS
from wirespeed.steps.guest_machine import ROOT as GUESTS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/security.md").read_text()


def mode_of(path: Path) -> str:
    return f"`{stat.S_IMODE(path.stat().st_mode):04o}`"


def row(word: str) -> list[str]:
    """Cells of the one row of a table that has `word`."""
    (found,) = [line for line in PAGE.splitlines() if line.startswith("|") and word in line]
    return [cell.strip() for cell in found.strip("|").split("|")]


def test_it_is_linked_from_both_indexes():
    assert "(docs/security.md)" in (ROOT / "README.md").read_text()
    assert "(security.md)" in (ROOT / "docs/README.md").read_text()


def test_every_test_that_it_names_is_there():
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", PAGE))
    assert len(named) > 5
    assert all((ROOT / name).is_file() for name in named), named


def test_every_variable_and_path_on_it_is_the_codes():
    variables = set(re.findall(r"WIRESPEED_\w+", PAGE))
    assert variables == {*PASSWORDS, VSPHERE_CA, WINRM_CA, THUMBPRINT}
    assert f"`{LOCK}/`" in PAGE
    assert f"`{FOLDER}/{TIMER}TOKEN/`" in PAGE
    assert f"`{GUESTS}/NAME/seed/`" in PAGE
    assert f"`{COPIES}/runs/RUN-HOST/`" in PAGE
    assert f"`{ESXI_LOCK}/`" in PAGE
    assert f"`%ProgramData%\\{WINDOWS_LOCK}`" in PAGE
    assert f"`%ProgramFiles%\\{TIMER}TOKEN`" in PAGE
    assert f"`/etc/wirespeed-{persist_name('NAME')}.sh`" in PAGE
    assert " or ".join(f"`{root}`" for root in ROOTS) in PAGE
    assert f"`{JOURNAL}`, `.{JOURNAL}.lock`, `{RUN}`" in PAGE


def test_what_is_written_here_has_the_modes_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    before = os.umask(0o022)
    try:
        run = new_run_folder(tmp_path / "SPEC")
        with open_run(run):
            pass
        own_key(state_folder())
        write_whole(tmp_path / "capture", "")
        with LabFolder("trial") as lab:
            assert mode_of(lab.path) == row("a lab's keys")[2]
        with PrivateFolder.create(tmp_path) as sockets:
            assert mode_of(sockets.path) == row("sockets of measuring")[2]
    finally:
        os.umask(before)
    where, mode = row("folder of a run: ")[1:3]
    assert (mode_of(run), mode_of(run.parent)) == (mode, mode)
    name = run.name.replace(run.name.rpartition("-")[2], "DIGITS")
    assert f"`~/.local/state/wirespeed/{run.parent.name}/{name}/`" in where
    assert {path.name for path in run.iterdir()} <= {JOURNAL, f".{JOURNAL}.lock", RUN}
    assert {mode_of(path) for path in run.iterdir()} == {row("journal, its lock")[2]}
    files = [path for path in state_folder().iterdir() if path.is_file()]
    keys = [path for path in files if path.suffix != ".pub"]
    assert keys
    assert {mode_of(path) for path in keys} == {row("key for virtual machines")[2]}
    assert mode_of(tmp_path / "capture") == row("| captures |")[2]


@pytest.mark.skipif(os.getuid() != 0, reason="a /run of its own needs root")
def test_what_is_written_on_a_host_has_the_modes_on_it(tmp_path: Path):
    """By the scripts themselves, in a mount namespace whose /run is empty."""
    unshare = shutil.which("unshare")
    assert unshare
    (tmp_path / "lock").write_text(lock_script("somebody"))
    (tmp_path / "arm").write_text(arm_script("7", [Command(argv=("true",))], 1))
    ask = (
        "mount -t tmpfs -o mode=755 none /run && umask 022 && sh $0/lock >&2 && sh $0/arm >&2 && "
        f"stat -c '%n %04a' {LOCK} {FOLDER}/{TIMER}7"
    )
    done = subprocess.run(
        [unshare, "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ask, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    modes = dict(line.split() for line in done.stdout.splitlines())
    assert f"`{modes[LOCK].zfill(4)}`" == row("machine's name, hash")[2]
    assert f"`{modes[f'{FOLDER}/{TIMER}7'].zfill(4)}`" == row("the undo of a step")[2]
