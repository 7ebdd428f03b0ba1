"""What a run makes of a lock that a host has already."""

from pathlib import Path

import pytest
from claims import claim, owner
from note_step import Note

from wirespeed import catalog
from wirespeed.apply import control_script, guard_timer
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.guard_timer import arm_script
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import JOURNAL, open_run
from wirespeed.host import identity
from wirespeed.host.local import LocalRunner
from wirespeed.model.error import InputError
from wirespeed.model.journal import Begun
from wirespeed.model.owner import Owner, owner_said, parse_owner
from wirespeed.runs.run_hosts import claim_of, lock_hosts


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(catalog, "step_types", lambda: {"note": Note})
    monkeypatch.setattr(control_script, "LOCK", str(tmp_path / "lock"))
    monkeypatch.setattr(guard_timer, "FOLDER", str(tmp_path / "timers"))
    return tmp_path / "lock"


@pytest.fixture
def control() -> PosixControl:
    return PosixControl("alpha", LocalRunner())


def put(lock: Path, line: str) -> None:
    lock.mkdir()
    (lock / "owner").write_text(f"{line}\n")


def test_an_owner_is_one_line_whatever_its_names_are():
    nasty = Owner(run="a" * 32, user="a b\n=%\x1b[31m", host="ü", folder="/x y")
    assert "\n" not in nasty.line() and "\x1b" not in nasty.line()
    assert parse_owner(nasty.line()) == nasty
    assert "\x1b" not in nasty.said() and "\\x1b" in nasty.said()


@pytest.mark.parametrize("line", ["", "/srv/spec.yaml.run", "run=../x", "run=A", "a=b run"])
def test_a_line_that_names_no_run_is_of_nobody_that_we_know(line: str):
    assert parse_owner(line) is None
    assert owner_said(line) == (line or "an owner that it does not name")


def test_a_lock_of_the_same_run_is_taken_over_unless_its_process_is_alive():
    mine = claim("a")
    assert mine.takes_over(owner("a", process="9.9.9.b").line())
    assert not mine.takes_over(owner("b").line())
    assert not mine.takes_over(owner("a", machine="m2").line())
    alive = type(mine)(mine.owner, lives=lambda process: process == "9.9.9.b")
    assert not alive.takes_over(owner("a", process="9.9.9.b").line())
    assert claim("a", breaks=True).takes_over("")


def test_a_process_is_alive_until_it_ends_and_we_are_no_other_process():
    assert not identity.lives(identity.owner_of("a" * 32, Path()).process)
    first = identity._process(1)
    assert identity.lives(first) and not identity.lives(first.replace("1.", "1.9", 1))
    assert not identity.lives("")


def test_the_machine_is_named_without_its_id():
    if not identity.MACHINE_ID.exists():
        pytest.skip("this machine has no id")
    own = identity.MACHINE_ID.read_text().strip()
    assert own not in identity.owner_of("a" * 32, Path()).line()
    assert identity.machine() == identity.machine() != ""


def test_a_lock_of_an_older_wirespeed_is_this_runs_where_its_journal_is_as_old(
    tmp_path: Path, lock: Path, control: PosixControl
):
    folder, note = tmp_path / "spec.yaml.run", tmp_path / "note"
    plan = make_plan(
        [
            (
                "alpha",
                Note(path=str(note), text="x"),
                control.read([Note(path=str(note), text="x")])[0],
            )
        ]
    )
    old = Begun(at="now", plan=plan).model_dump(mode="json", exclude={"run"})
    folder.mkdir(mode=0o700)
    (folder / JOURNAL).write_text(f"{Begun.model_validate(old).model_dump_json()}\n")
    (folder / JOURNAL).chmod(0o600)
    put(lock, str(folder.resolve()))
    with open_run(folder) as run:
        first = run.id
        with lock_hosts(run, {"alpha": control}):
            assert run.id in (lock / "owner").read_text()
    assert not lock.exists()
    with open_run(folder) as run:
        assert run.id == first, "it is kept"
        put(lock, "/elsewhere/spec.yaml.run")
        with pytest.raises(InputError, match=r"locked by /elsewhere/spec\.yaml\.run"):
            control.lock(claim_of(run))


def test_the_id_of_a_run_is_that_of_its_journal_and_stays_when_it_begins_anew(tmp_path: Path):
    folder = tmp_path / "run"
    with open_run(folder) as run:
        first = run.id
    with open_run(folder) as run:
        assert run.id == first
        run.write(Begun(at="now", plan=make_plan([])))
        assert isinstance(run.entries[0], Begun) and run.entries[0].run == first
    (folder / "run.json").unlink()
    with open_run(folder) as run:
        assert run.id == first
        run.begin_anew()
        run.write(Begun(at="now", plan=make_plan([])))
    with open_run(folder) as run:
        assert run.id == first


@pytest.mark.parametrize("line", ["", "garbage \x1b[31m", "/old/path"])
def test_a_lock_that_names_no_run_is_refused_and_broken(
    lock: Path, control: PosixControl, line: str
):
    put(lock, line)
    with pytest.raises(InputError) as caught:
        control.lock(claim())
    assert "\x1b" not in caught.value.found and "--break-lock" in caught.value.next
    control.lock(claim(breaks=True))
    assert (lock / "owner").read_text() == f"{claim().line()}\n"


def test_a_lock_without_an_owner_is_taken_only_when_it_is_broken(lock: Path, control: PosixControl):
    lock.mkdir()
    with pytest.raises(InputError, match="an owner that it does not name"):
        control.lock(claim())
    control.lock(claim(breaks=True))


def test_what_another_run_left_armed_keeps_a_host_that_nobody_locked(
    lock: Path, control: PosixControl, tmp_path: Path
):
    other = claim("b").run
    control._ask(arm_script(f"{other}-t", (), 60), 10)
    try:
        with pytest.raises(InputError, match=f"1 armed step of run {other}"):
            control.lock(claim())
        assert not lock.exists(), "it is given back"
        told: list[str] = []
        control.lock(type(claim())(claim().owner, breaks=True, tell=told.append))
        assert any("stays armed" in one for one in told)
    finally:
        control.lock(claim("b", breaks=True))
        assert (tmp_path / f"timers/wirespeed-undo-{other}-t/result").exists(), "its own settles it"


def test_a_run_whose_lock_was_broken_changes_nothing_more(
    lock: Path, control: PosixControl, tmp_path: Path
):
    step = Note(path=str(tmp_path / "note"), text="x")
    control.lock(claim("a"))
    PosixControl("alpha", LocalRunner()).lock(claim("b", breaks=True))
    done = control.change(step, step.change({"text": None}, {"text": "x"}))
    assert f"the host was locked meanwhile by run {claim('b').run}" in done.failed
    assert not (tmp_path / "note").exists()
    (lock / "owner").unlink()
    assert control.change(step, step.change({"text": None}, {"text": "x"})).failed == "", "rebooted"
