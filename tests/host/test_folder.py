import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from wirespeed.host.build_cache import build_once, cache_folder
from wirespeed.host.files import remove_socket
from wirespeed.host.folder import PrivateFolder
from wirespeed.host.lock import FileLock
from wirespeed.model.error import InputError, MeasurementError


def test_a_private_folder_is_ours_alone_and_goes_when_closed(tmp_path: Path):
    with PrivateFolder.create(tmp_path) as folder:
        assert folder.path.stat().st_mode & 0o777 == 0o700
        assert folder.path.name.startswith(f"wirespeed-{os.getuid()}-")
    assert not folder.path.exists()


def test_folders_of_the_living_stay_and_those_of_the_dead_go(tmp_path: Path):
    script = (
        "import os, sys, signal\nfrom pathlib import Path\n"
        "from wirespeed.host.folder import PrivateFolder\n"
        "print(PrivateFolder.create(Path(sys.argv[1])).path, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    dead = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    orphan = Path(dead.stdout.strip())
    assert orphan.is_dir()
    with PrivateFolder.create(tmp_path) as one:
        assert not orphan.exists()
        with PrivateFolder.create(tmp_path) as two:
            assert one.path.is_dir()
            assert one.path != two.path


def test_a_folder_that_only_looks_like_ours_is_left_alone(tmp_path: Path):
    stranger = tmp_path / f"wirespeed-{os.getuid()}-abc"
    stranger.mkdir()
    link = tmp_path / f"wirespeed-{os.getuid()}-link"
    link.symlink_to(stranger)
    PrivateFolder.create(tmp_path).close()
    assert stranger.is_dir()
    assert link.is_symlink()


def test_two_owners_of_one_named_folder_exclude_each_other(tmp_path: Path):
    with PrivateFolder.adopt(tmp_path / "x"):
        with pytest.raises(InputError) as error:
            PrivateFolder.adopt(tmp_path / "x")
        assert error.value.what == "folder.in_use"
        assert f"process {os.getpid()}" in error.value.found
    PrivateFolder.adopt(tmp_path / "x").close()
    assert (tmp_path / "x").is_dir()


def test_remove_socket_removes_a_socket_and_nothing_else(tmp_path: Path):
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
    remove_socket(path)
    assert not path.exists()
    path.write_text("precious")
    remove_socket(path)
    assert path.read_text() == "precious"
    remove_socket(tmp_path / "absent")


def test_a_build_appears_whole_once(tmp_path: Path):
    calls = []

    def build(folder: Path) -> None:
        calls.append(folder)
        (folder / "result").write_text("42")
        assert not (tmp_path / "target").exists()

    for _ in range(2):
        target = build_once(tmp_path / "target", build, timeout_s=1)
        assert (target / "result").read_text() == "42"
    assert len(calls) == 1


def test_a_failed_build_leaves_nothing_and_can_be_tried_again(tmp_path: Path):
    def fail(folder: Path) -> None:
        (folder / "half").write_text("")
        raise InputError("l3fwd.build")

    with pytest.raises(InputError):
        build_once(tmp_path / "target", fail, timeout_s=1)
    assert [p.name for p in tmp_path.iterdir()] == [".target.lock"]
    assert build_once(tmp_path / "target", lambda _: None, timeout_s=1).is_dir()


def test_a_second_builder_waits_only_so_long(tmp_path: Path):
    other = FileLock(tmp_path / ".target.lock")
    assert other.acquire()
    with pytest.raises(MeasurementError) as error:
        build_once(tmp_path / "target", lambda _: None, timeout_s=0.1)
    assert error.value.what == "cache.busy"
    other.release()
    build_once(tmp_path / "target", lambda _: None, timeout_s=0.1)


def test_the_cache_follows_xdg_but_not_a_relative_path(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/wirespeed")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == Path.home() / ".cache/wirespeed"
