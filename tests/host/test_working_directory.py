"""Nothing in the working directory is run, which may be another user's."""

import os
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from other_user import UID, needs_root

from wirespeed.host.detached import our_python, our_python_path
from wirespeed.host.folder import PrivateFolder
from wirespeed.host.kept_links import KeptLinks
from wirespeed.host.private_log import private_log
from wirespeed.host.reach_destination import Here
from wirespeed.model.error import InputError
from wirespeed.platforms.access import route_to

SOURCES = Path(__file__).parents[2] / "src/wirespeed"
WRITES = "open({mark!r}, 'w').write('ran')\n"


@pytest.fixture(name="mark")
def _mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Plant modules in the working directory; give the file that they write."""
    place, mark = tmp_path / "theirs", tmp_path / "ran"
    (place / "wirespeed").mkdir(parents=True)
    for name in ("wirespeed/__init__", "contextlib", "json", "sitecustomize"):
        (place / f"{name}.py").write_text(WRITES.format(mark=str(mark)))
    monkeypatch.chdir(place)
    return mark


def test_the_process_that_keeps_links_takes_no_module_of_the_working_directory(
    mark: Path, tmp_path: Path
):
    (tmp_path / "net/eth0").mkdir(parents=True)
    (tmp_path / "net/eth0/mtu").write_text("1500\n")
    (tmp_path / "net/eth0/flags").write_text("0x1003\n")
    with KeptLinks(["eth0"], tmp_path / "net"):
        assert not mark.exists()
    assert not mark.exists()


@pytest.mark.parametrize(
    "module",
    ["wirespeed.host.ssh_pipe", "wirespeed.lab.machine_cable", "wirespeed.lab.machine_keeper"],
)
def test_no_python_of_ours_takes_a_module_of_the_working_directory(module: str, mark: Path):
    """It has too few words and ends; by then it has loaded all that it loads."""
    done = subprocess.run(
        our_python(module), env={**os.environ, **our_python_path()},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert not mark.exists()
    assert module.replace(".", "/") in done.stderr


def test_every_python_of_ours_is_started_so():
    # -I leaves the working directory out by itself.
    starts = re.compile(r"sys\.executable,\s*\"-(?!I\")")
    found = [
        str(p.relative_to(SOURCES)) for p in SOURCES.rglob("*.py") if starts.search(p.read_text())
    ]
    assert sorted(found) == ["host/detached.py", "host/inventory_program.py"]


def test_commands_of_this_machine_run_in_its_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """QEMU tries a firmware's name as a path first (softmmu/datadir.c, `qemu_find_file`)."""
    monkeypatch.chdir(tmp_path)
    found = route_to(Here())
    assert found and found[1].runner
    with ExitStack() as stack:
        assert found[1].runner(Here(), stack).run(("pwd",)).output == "/\n"


@needs_root
@pytest.mark.parametrize(("uid", "mode"), [(UID, 0o700), (UID, 0o1777), (0, 0o777)])
def test_temporary_files_are_not_put_where_another_user_can_replace_them(
    uid: int, mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Python's last resort for them is the working directory (`tempfile.gettempdir`)."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with private_log() as log:
        assert log.path.parent == tmp_path
    os.chown(tmp_path, uid, uid)
    tmp_path.chmod(mode)
    for make in (PrivateFolder.create, private_log):
        with pytest.raises(InputError) as caught:
            make()
        assert caught.value.what == "folder.unusable" and "TMPDIR" in caught.value.next
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", [".:{path}", ":{path}", "{path}:", "theirs:{path}"])
def test_no_program_of_the_working_directory_is_run_in_place_of_the_systems(
    path: str, tmp_path: Path
):
    mark = tmp_path / "ran"
    for place in (tmp_path, tmp_path / "theirs"):
        place.mkdir(exist_ok=True)
        for name in ("setpriv", "sh", "env", "not-of-the-system"):
            (place / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
            (place / name).chmod(0o755)
    words = ("measure", "command", "-n", "1", "--figure", "(.)", "--unit", "x",
             "--higher-is-better", "--out", "out", "--", "not-of-the-system")  # fmt: skip
    argv = [sys.executable, "-P", "-c", "from wirespeed.cli import main; main()"]
    given = {**os.environ, **our_python_path(), "PATH": path.format(path=os.environ["PATH"])}
    for command in (("capture", "here", "--seconds", "0", "--out", "here.txt"), words):
        done = subprocess.run(
            [*argv, *command], cwd=tmp_path, env=given, capture_output=True, text=True, timeout=120
        )
        assert not mark.exists(), command
    assert "command.missing" in done.stderr
