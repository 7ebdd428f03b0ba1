"""Where the run of a spec is kept, and how it is found again."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from described_host import Put
from rebooting_host import RebootingHost, use_hosts, write_spec

from wirespeed.apply.run import JOURNAL, read_journal
from wirespeed.apply.run_place import (
    known_runs,
    new_run_folder,
    older_place,
    other_run_folder,
    run_folder,
    runs_folder,
)
from wirespeed.approaches.traits import RequestedStep
from wirespeed.commands.apply import apply
from wirespeed.commands.report import report
from wirespeed.commands.status import status
from wirespeed.commands.undo import undo
from wirespeed.host.state import state_folder
from wirespeed.model.error import InputError

START, GOAL = {"one": 1, "two": 2}, {"one": 10, "two": 20}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> RebootingHost:
    host = RebootingHost(dict(START))
    steps = [Put(key=key, value=value) for key, value in GOAL.items()]
    use_hosts(monkeypatch, {"alpha": host}, [RequestedStep(step) for step in steps])
    return host


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    write_spec(tmp_path / "a/lab.yaml", "alpha")
    return tmp_path / "a/lab.yaml"


def call(command: object, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)  # type: ignore[arg-type]


def applied(spec: Path, *arguments: str) -> None:
    done = call(apply, spec, "--yes", *arguments)
    assert (done.return_value, done.exception) == (0, None), done.output


def refusal(done: Result) -> InputError:
    assert isinstance(done.exception, InputError), (done.output, done.exception)
    return done.exception


def test_a_run_is_kept_in_the_state_directory_for_its_owner_alone(
    spec: Path, state: Path, host: RebootingHost
):
    applied(spec)
    folder = run_folder(spec)
    assert folder.parent == state / "wirespeed/runs"
    assert folder.name.startswith("lab.yaml-")
    assert [path.name for path in spec.parent.iterdir()] == ["lab.yaml"], "nothing beside the spec"
    for one in (state, state / "wirespeed", state / "wirespeed/runs", folder):
        assert stat.S_IMODE(one.stat().st_mode) == 0o700
    assert call(undo, spec).return_value == 0
    assert host.values == START


@pytest.mark.usefixtures("host")
def test_two_specs_of_one_name_have_two_runs(spec: Path, tmp_path: Path):
    (tmp_path / "b").mkdir()
    write_spec(tmp_path / "b/lab.yaml", "alpha")
    assert run_folder(spec) != run_folder(tmp_path / "b/lab.yaml")
    applied(spec)
    assert refusal(call(status, tmp_path / "b/lab.yaml")).what == "run.missing"


def test_a_spec_is_the_same_by_whatever_path_it_is_named(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "link").symlink_to(spec.parent)
    monkeypatch.chdir(spec.parent)
    places = {run_folder(path) for path in (spec, tmp_path / "link/lab.yaml", Path("lab.yaml"))}
    assert len(places) == 1


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("command", [status, undo])
def test_the_folder_of_a_run_stands_for_its_spec(spec: Path, command: object):
    applied(spec)
    assert call(command, run_folder(spec)).return_value == 0


def older_run(spec: Path) -> Path:
    """Apply it, and have the run where an older release had it."""
    applied(spec)
    older = older_place(spec)
    run_folder(spec).rename(older)
    (older / "run.json").unlink()
    return older


def test_a_run_that_stands_beside_its_spec_is_read_and_undone_there(
    spec: Path, host: RebootingHost
):
    older = older_run(spec)
    assert "applied: 2 of 2 steps are in place" in call(status, spec).output
    assert call(undo, spec).return_value == 0
    assert host.values == START
    assert read_journal(older)[-1].kind == "ended"
    assert "undone" in call(status, spec).output
    applied(spec)
    assert run_folder(spec).parent == runs_folder(), "a new run goes to the new place"


def test_a_run_that_was_stopped_beside_its_spec_is_finished_there(spec: Path, host: RebootingHost):
    applied(spec, "--until", "1")
    older = older_place(spec)
    run_folder(spec).rename(older)
    applied(spec)
    assert host.values == GOAL
    assert run_folder(spec) == older
    assert not list(runs_folder().iterdir())


def test_where_a_run_stands_in_both_places_neither_is_guessed(spec: Path, host: RebootingHost):
    older = older_run(spec)
    aside = older.with_name("aside")
    older.rename(aside)
    host.values = dict(START)
    host.disk.clear()  # An older release kept no copy on the host.
    applied(spec)
    aside.rename(older)
    for command in (status, undo, apply):
        error = refusal(call(command, spec))
        assert error.what == "run.two_stand"
        assert str(older) in error.found
    assert call(undo, older).return_value == 0
    assert call(undo, spec).return_value == 0


def test_the_run_of_a_spec_that_was_moved_is_named_and_taken_over(spec: Path, host: RebootingHost):
    applied(spec, "--until", "1")
    was, folder = spec, run_folder(spec)
    moved = spec.rename(spec.with_name("moved.yaml"))
    error = refusal(call(apply, moved, "--yes"))
    assert error.what == "run.spec_moved"
    assert str(folder) in error.next
    assert str(was) in error.found
    applied(moved, "--run", str(folder))
    assert host.values == GOAL
    assert "applied" in call(status, moved).output, "from now on it is found by the file"
    assert call(undo, moved).return_value == 0
    assert host.values == START


def test_a_damaged_run_of_another_spec_is_in_nobodys_way(spec: Path, host: RebootingHost):
    applied(spec)
    (run_folder(spec) / JOURNAL).write_bytes(b"\0" * 99)
    other = spec.rename(spec.with_name("other.yaml"))
    host.values = dict(START)
    applied(other)
    assert host.values == GOAL


@pytest.mark.usefixtures("host")
def test_status_alone_lists_the_runs_that_are_known(spec: Path, tmp_path: Path):
    assert "no runs in" in call(status).output
    applied(spec)
    write_spec(tmp_path / "other.yaml", "alpha")
    call(apply, tmp_path / "other.yaml", "--yes")
    damaged = run_folder(spec).with_name("damaged-1")
    damaged.mkdir()
    (damaged / "run.json").write_bytes((run_folder(spec) / "run.json").read_bytes())
    (damaged / JOURNAL).write_bytes(b"\0" * 9)
    done = call(status)
    assert done.return_value == 0
    lines = done.output.splitlines()
    assert any(line.startswith("applied ") and line.endswith(str(spec)) for line in lines)
    assert f"{run_folder(spec)}" in done.output
    assert any(line.startswith("damaged ") for line in lines)
    assert any(line.startswith("never begun ") and "other.yaml" in line for line in lines)
    assert len(list(known_runs())) == 3


def test_a_state_directory_that_others_may_write_to_is_refused(spec: Path, host: RebootingHost):
    runs_folder().mkdir(parents=True)
    runs_folder().chmod(0o777)
    error = refusal(call(apply, spec, "--yes"))
    assert (error.what, error.where) == ("file.untrusted", str(state_folder() / "runs"))
    assert host.values == START


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be called by sudo")
def test_under_sudo_a_run_is_not_kept_where_the_calling_user_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 61234, 61234)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / ".local/state"))
    assert not state_folder().is_relative_to(home)
    os.chown(home, 0, 0)
    assert state_folder() == home / ".local/state/wirespeed"


@pytest.mark.parametrize("value", ["", "relative/path"])
def test_a_state_directory_that_is_no_absolute_path_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
):
    monkeypatch.setenv("XDG_STATE_HOME", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_folder() == tmp_path / ".local/state/wirespeed"


def test_a_spec_that_is_odd_in_name_has_a_place_of_a_plain_name(tmp_path: Path):
    folder = new_run_folder(tmp_path / "..; rm -rf $HOME \x1b[31m.yaml")
    assert folder.parent == runs_folder()
    assert folder.name.isascii()
    assert not set(folder.name) & set("; $/\x1b[")


def test_a_run_that_is_of_no_spec_has_a_place_by_all_that_it_is_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    one = other_run_folder("eth0", "link ssh://alpha eth0 switch+dell_os6://sw1/Te1/0/1")
    two = other_run_folder("eth0", "link ssh://beta eth0 switch+dell_os6://sw1/Te1/0/2")
    assert one != two
    assert {one.parent, two.parent} == {runs_folder()}


def test_a_run_of_no_spec_that_stands_in_the_working_directory_is_still_found(
    spec: Path, host: RebootingHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    applied(spec)
    run_folder(spec).rename(tmp_path / "alpha.run")
    monkeypatch.chdir(tmp_path)
    assert other_run_folder("alpha", "remedy ssh://alpha") == Path("alpha.run")
    assert call(undo, tmp_path / "alpha.run").return_value == 0
    assert host.values == START
    assert other_run_folder("alpha", "remedy ssh://alpha").parent == runs_folder()


def test_the_page_of_a_spec_is_made_again_from_its_run(spec: Path):
    shutil.copytree(Path(__file__).parents[1] / "kept" / "proof", new_run_folder(spec))
    for named in (spec, spec.with_name("lab.yaml.report")):
        assert call(report, named).exception is None
        assert (spec.parent / "lab.yaml.report/report.html").is_file()
        shutil.rmtree(spec.parent / "lab.yaml.report")
    (spec.parent / "lab.yaml.report").symlink_to(spec.parent)
    assert refusal(call(report, spec)).what == "file.untrusted", "a link that was planted there"
    assert call(report, spec, "--out", spec.parent / "here").exception is None
    assert (spec.parent / "here/report.html").is_file()


def test_the_place_is_found_without_a_home():
    code = "from wirespeed.host.state import state_folder; print(state_folder())"
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.stdout.strip().endswith("/.local/state/wirespeed")
