"""`undo HOST` and `status HOST` of this machine: its own shell, real copies, no run folders."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from note_step import NASTY, Note
from test_host_copy import PLANTED

from wirespeed import catalog
from wirespeed.apply import control_script, guard_timer, host_copy_script, tryout_script
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.guard_timer import arm_script
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import open_run
from wirespeed.apply.run_place import runs_folder
from wirespeed.commands.status import status
from wirespeed.commands.undo import undo
from wirespeed.host.local import LocalRunner
from wirespeed.model.error import HostError, InputError, LeftChangedError, WirespeedError
from wirespeed.model.journal import Entry
from wirespeed.runs.run_hosts import apply_plan


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(catalog, "step_types", lambda: {"note": Note})
    monkeypatch.setattr(control_script, "LOCK", str(tmp_path / "lock"))
    monkeypatch.setattr(guard_timer, "FOLDER", str(tmp_path / "timers"))
    monkeypatch.setattr(tryout_script, "FOLDER", str(tmp_path / "try"))
    monkeypatch.setattr(tryout_script, "SYSTEMD", str(tmp_path / "no-systemd"))
    (tmp_path / "state").mkdir()
    (tmp_path / "old").write_text("before\n")
    yield tmp_path
    for sleeper in tmp_path.glob("*/*/sleeper"):
        LocalRunner().run(["kill", "-s", "TERM", "--", f"-{sleeper.read_text().strip()}"])


def call(command: object, *arguments: object) -> Result:
    done = CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)  # type: ignore[arg-type]
    if done.exception is not None and not isinstance(done.exception, WirespeedError):
        raise done.exception
    return done


def applied(host: Path, name: str, text: str, *, dies_at: int = 0, try_s: int = 0) -> str:
    """Write a text to a file by a run of its own, whose controller may die; give the run's id."""
    step = Note(path=str(host / name), text=text)
    controls = {"alpha": PosixControl("alpha", LocalRunner())}
    plan = make_plan([("alpha", step, controls["alpha"].read([step])[0])])
    with open_run(runs_folder() / f"{name}-{text[:3]}", of=f"/srv/{name}.yaml") as run:
        whole = run.write

        def write(entry: Entry) -> None:
            if dies_at and len(run.entries) == dies_at:
                raise KeyboardInterrupt
            whole(entry)

        run.write = write  # type: ignore[method-assign]
        if dies_at:
            with pytest.raises(KeyboardInterrupt):
                apply_plan(run, plan, controls, try_s=try_s)
        else:
            apply_plan(run, plan, controls, try_s=try_s)
        return run.id


def lose_disk(host: Path) -> None:
    shutil.rmtree(host / "state")
    (host / "state").mkdir()


def test_the_runs_that_stand_here_are_listed_and_taken_back_the_latest_first(
    host: Path, copies: Path
):
    assert "here: 0 runs are applied, 0 are undone" in call(status, "here").output
    first, second = applied(host, "old", NASTY), applied(host, "old", "later")
    applied(host, "new", "x")
    (copies / "runs" / "not-a-run").mkdir()
    (copies / "runs" / "stray").write_text("x")
    lose_disk(host)
    told = call(status, "here")
    assert told.return_value == 0
    assert told.output.index(f"run {second}") < told.output.index(f"run {first}")
    assert "of /srv/old.yaml: applied" in told.output and "here: 3 runs are applied" in told.output
    done = call(undo, "here", "--only", second, "--yes")
    assert done.return_value == 0 and (host / "old").read_text() == NASTY + "\n"
    done = call(undo, "here", "--yes")
    assert done.return_value == 0, (done.output, done.exception)
    assert (host / "old").read_text() == "before\n" and not (host / "new").exists()
    assert "here: 0 runs are applied, 3 are undone" in call(status, "here").output
    assert not (host / "lock").exists()


@pytest.mark.parametrize("dies_at", [1, 2, 3, 4])
def test_a_run_whose_controller_died_and_that_waits_to_be_confirmed_is_settled(
    host: Path, dies_at: int
):
    run = applied(host, "old", NASTY, dies_at=dies_at, try_s=600)
    lose_disk(host)
    told = call(status, "here").output
    assert f"undone by the host unless it is confirmed: 1 armed step of run {run}" in told
    done = call(undo, "here", "--yes", "--break-lock")
    if dies_at == 1:
        # Nothing was done, and no copy begun: its timer alone is there, and is let be.
        assert "nothing to undo" in done.output
        return
    assert done.return_value == 0, (done.output, done.exception)
    assert (host / "old").read_text() == "before\n"
    assert list((host / "try").iterdir()) == []


def test_a_step_that_is_still_armed_is_settled(host: Path):
    run = applied(host, "old", NASTY)
    undoing = Note(path=str(host / "old"), text="before").change(
        {"text": NASTY}, {"text": "before"}
    )
    done = LocalRunner().run(["sh"], stdin=arm_script(f"{run}-7", undoing, 600))
    assert "end 0" in done.output
    lose_disk(host)
    assert f"1 armed step of run {run}" in call(status, "here").output
    assert call(undo, "here", "--yes").return_value == 0
    assert (host / "old").read_text() == "before\n"
    assert list((host / "timers").glob("*")) == []


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_copy_is_not_read_and_the_reason_is_said(host: Path, copies: Path, name: str):
    how, what, why = PLANTED[name]
    applied(host, "new", "x")
    (folder,) = (copies / "runs").iterdir()
    how(folder / what if what != ".." else copies / "runs")
    lose_disk(host)
    error = call(undo, "here", "--yes").exception
    if what == "..":
        assert isinstance(error, HostError) and error.what == "copies.not_read"
    else:
        assert isinstance(error, LeftChangedError) and error.what == "copies.not_readable"
        told = call(status, "here")
        assert told.return_value == 3 and why in told.output
    assert why in error.found
    assert (host / "new").read_text() == "x\n"
    if what == "..":
        return
    other = call(undo, "here", "--yes", "--only", folder.name).exception
    assert isinstance(other, LeftChangedError) and other.what == "copy.not_a_journal"
    assert not (host / "state/wirespeed").exists(), "no folder was made of it"


DAMAGED: dict[str, Callable[[bytes], bytes]] = {
    "all NUL": lambda data: b"\0" * len(data),
    "no UTF-8": lambda data: b"\xff\xfe" + data[2:],
    "first line torn": lambda data: data[:200],
    "lines that look like ours": lambda _: b"wirespeed-capture 1 x\nx begin copy -\nx end 0\n",
}


@pytest.mark.parametrize("how", DAMAGED)
def test_a_damaged_journal_here_is_refused_with_its_reason(host: Path, copies: Path, how: str):
    applied(host, "new", "x")
    (path,) = copies.rglob("journal.jsonl")
    path.write_bytes(DAMAGED[how](path.read_bytes()))
    lose_disk(host)
    error = call(undo, "here", "--yes").exception
    assert isinstance(error, LeftChangedError) and error.what == "copy.not_a_journal"
    assert "without a beginning" in error.found
    assert (host / "new").exists() and call(status, "here").return_value == 3


def test_a_copy_that_is_too_long_is_not_read(
    host: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
):
    applied(host, "new", "x")
    (path,) = copies.rglob("journal.jsonl")
    with path.open("ab") as file:
        file.truncate(5 << 20)
    error = call(undo, "here", "--yes").exception
    assert isinstance(error, LeftChangedError) and "5242880 bytes, at most 4194304" in error.found
    path.unlink()
    error = call(undo, "here", "--yes").exception
    assert isinstance(error, LeftChangedError) and "journal.jsonl is not there" in error.found
    monkeypatch.setattr(host_copy_script, "_LIST", "listed() {\n\treturn 1\n}\n")
    error = call(status, "here").exception
    assert isinstance(error, HostError | InputError)
