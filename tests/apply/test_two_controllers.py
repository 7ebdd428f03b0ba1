"""Two controllers, whose run folders have one path, and one host: each sees the other.

Each controller is a process in a mount namespace of its own, the host this machine by a real sshd
or by its own shell; lock and timers are in a folder of the test's.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sshd import Home, Sshd

from wirespeed.host.spawn import end, spawn

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mount namespaces need root")
CONTROLLER = Path(__file__).with_name("controller.py")
PATHS = [str(CONTROLLER.parent), *filter(None, sys.path)]


class Controllers:
    """Processes at work, each with its own folder at the one path."""

    def __init__(self, folder: Path, host: str, home: Path) -> None:
        self.folder, self.host, self.home = folder, host, home
        self.lock, self.timers = folder / "lock", folder / "timers"
        self.same = folder / "spec.yaml.run"
        self.same.mkdir()
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        own = self.folder / name
        own.mkdir(exist_ok=True)
        script = 'mount --make-rprivate / && mount --bind "$1" "$2" && shift 2 && exec "$@"'
        process = spawn(
            [
                *("unshare", "--mount", "sh", "-c", script, "sh", str(own), str(self.same)),
                *(sys.executable, str(CONTROLLER), str(self.same), self.host),
                *(str(self.lock), str(self.timers), *words),
            ],
            stdin=subprocess.DEVNULL,
            environment={"HOME": str(self.home), "PYTHONPATH": ":".join(PATHS)},
        )
        self.started.append(process)
        return process

    def ended(self, name: str, *words: str) -> dict[str, Any]:
        process = self.start(name, *words)
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()
        answers = [line for line in output.splitlines() if line.startswith(b"{")]
        return {**json.loads(answers[-1]), "told": errors.decode()}

    def holding(self, name: str, *words: str) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
        process = self.start(name, *words)
        assert process.stdout is not None
        for line in process.stdout:
            if b'"holds"' in line:
                return process, json.loads(line)
        raise AssertionError(process.communicate()[1].decode())

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.communicate()

    def close(self) -> None:
        for process in self.started:
            end(process, term_s=1.0)
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
        for sleeper in self.timers.glob("*/sleeper"):
            with contextlib.suppress(OSError):
                os.killpg(int(sleeper.read_text()), signal.SIGTERM)


@pytest.fixture(params=["here", "by ssh"])
def controllers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Controllers]:
    home = Home(tmp_path / "home")
    with_sshd = request.param == "by ssh"
    server = Sshd(tmp_path / "sshd", home.key) if with_sshd else None
    if server is not None:
        home.add_host("alpha", server.port)
        home.known_hosts.write_text(server.known_as())
    found = Controllers(tmp_path, "ssh://alpha" if with_sshd else "here", home.folder)
    try:
        yield found
    finally:
        found.close()
        if server is not None:
            server.close()


def test_two_controllers_with_one_path_the_second_is_refused_and_says_who_has_the_host(
    controllers: Controllers, tmp_path: Path
):
    first, held = controllers.holding("one", "hold")
    note = tmp_path / "note"
    second = controllers.ended("two", f"{note}=x")
    assert second["error"] == "host.in_use"
    assert f"run {held['run']} of " in second["found"] and "since 2" in second["found"]
    assert "--break-lock" in second["next"]
    assert not note.exists()
    assert held["run"] in (controllers.lock / "owner").read_text(), "the first one's lock stays"
    controllers.kill(first)
    assert controllers.ended("two", f"{note}=x")["error"] == "host.in_use", "it was killed"
    assert "error" not in controllers.ended("one", f"{note}=y"), "its own run goes on"
    assert not controllers.lock.exists()
    assert "error" not in controllers.ended("two", f"{note}=x")


def test_two_controllers_the_second_does_not_undo_what_the_first_has_armed(
    controllers: Controllers, tmp_path: Path
):
    if controllers.host == "here":
        pytest.skip("here no step is armed: there is no connection to lose")
    note = tmp_path / "note"
    note.write_text("old\n")
    first, held = controllers.holding("one", f"armed:{note}=new")
    assert note.read_text() == "new\n"
    second = controllers.ended("two", f"{tmp_path / 'other'}=x")
    assert second["error"] == "host.in_use"
    assert f"1 armed step of run {held['run']}" in second["found"]
    assert note.read_text() == "new\n", "it is not the second one's to undo"
    broken = controllers.ended("two", "break", f"{tmp_path / 'other'}=x")
    assert "error" not in broken
    assert f"its lock was broken; the host was locked by run {held['run']}" in broken["told"]
    assert f"1 armed step of run {held['run']} stays armed" in broken["told"]
    assert note.read_text() == "new\n"
    controllers.kill(first)
    assert "error" not in controllers.ended("one", "undo")
    assert note.read_text() == "old\n", "its own run has it undone"
    assert list(controllers.timers.glob("*")) == []


def test_two_controllers_with_copies_of_one_run_folder_exclude_each_other(
    controllers: Controllers, tmp_path: Path
):
    assert "error" not in controllers.ended("one", f"{tmp_path / 'note'}=x")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    first, held = controllers.holding("one", "hold")
    second = controllers.ended("two", "undo")
    assert second["error"] == "host.in_use"
    assert held["run"] in second["found"] and "another copy" in second["found"]
    controllers.kill(first)
    assert controllers.ended("two", "undo")["run"] == held["run"], "now it is the only one"


def test_a_run_folder_that_was_moved_keeps_its_id_and_its_lock(
    controllers: Controllers, tmp_path: Path
):
    first, held = controllers.holding("one", "hold")
    controllers.kill(first)
    (tmp_path / "one").rename(tmp_path / "moved")
    taken_again = controllers.ended("moved", f"{tmp_path / 'note'}=x")
    assert taken_again["run"] == held["run"] and "error" not in taken_again
    assert not controllers.lock.exists()
