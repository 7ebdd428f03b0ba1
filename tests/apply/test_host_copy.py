"""Each host keeps a copy of its part of the journal: this machine's own shell, real files."""

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from note_step import NASTY, Failing, Note

from wirespeed import catalog
from wirespeed.apply import (
    control_script,
    guard_timer,
    guard_timer_change,
    host_copy,
    host_copy_script,
)
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.host_copy import About, Batch, copy_name
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import Run, open_run, salvage_run
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import Completed
from wirespeed.model.command import Command
from wirespeed.model.error import ApplyError, HostError, InputError, LeftChangedError
from wirespeed.model.journal import Begun, Ended, Intent, Result, outcome
from wirespeed.model.journal_lines import JournalText, read_journal_text
from wirespeed.model.journal_part import part_of
from wirespeed.model.owner import parse_owner
from wirespeed.model.plan import Plan
from wirespeed.model.step import State
from wirespeed.runs.run_hosts import apply_plan, lock_hosts, roll_back, undo_plan


class Seen(Note):
    """Before it writes, it keeps what the host's copy says by then."""

    step: Literal["seen"] = "seen"  # type: ignore[assignment]
    copy_of: str

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        see = Command(argv=("cp", self.copy_of, f"{self.path}.seen"))
        return (see, *super().commands(now, to))


class CountingRunner(LocalRunner):
    """This machine, with a lock of its own; it counts round trips, and may lose an answer."""

    def __init__(self, lock: str) -> None:
        super().__init__()
        self.trips, self._lock = 0, lock
        self.loses: int | None = None

    def run(self, argv: Sequence[str], **how: Any) -> Completed:
        self.trips += 1
        if script := how.get("stdin"):
            how["stdin"] = script.replace(control_script.LOCK, self._lock)
        done = super().run(argv, **how)
        if self.loses == self.trips:
            raise HostError("ssh.lost", where="alpha", found="the connection ended")
        return done


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    kinds = {"note": Note, "failing": Failing, "seen": Seen}
    monkeypatch.setattr(catalog, "step_types", lambda: kinds)
    monkeypatch.setattr(control_script, "LOCK", str(tmp_path / "lock"))
    monkeypatch.setattr(guard_timer, "FOLDER", str(tmp_path / "timers"))
    (tmp_path / "old").write_text("before\n")
    yield tmp_path


@pytest.fixture
def controls(host: Path) -> dict[str, PosixControl]:
    names = ("alpha", "beta")
    return {name: PosixControl(name, CountingRunner(f"{host}/lock-{name}")) for name in names}


def plan_for(host: Path, controls: dict[str, PosixControl]) -> Plan:
    """Steps of both hosts by turns, so that each has numbers of its own."""
    steps = [
        ("alpha", Note(path=str(host / "old"), text=NASTY)),
        ("beta", Note(path=str(host / "beta"), text="y")),
        ("alpha", Note(path=str(host / "new"), text="x")),
    ]
    return make_plan((at, step, controls[at].read([step])[0]) for at, step in steps)


def folder_of(copies: Path, run: Run, name: str = "alpha") -> Path:
    return copies / "runs" / copy_name(run.id, name)


def copy_of(copies: Path, run: Run, name: str = "alpha") -> JournalText:
    return read_journal_text((folder_of(copies, run, name) / "journal.jsonl").read_bytes())


def assert_says(copies: Path, run: Run, name: str = "alpha") -> None:
    """The copy says what the run folder says of this host, and is whole."""
    told = copy_of(copies, run, name)
    assert (told.damage, told.torn_bytes) == ((), 0)
    assert list(told.entries) == part_of(run.entries, name, run.id)


def test_what_was_applied_stands_in_each_hosts_copy_for_root_alone(
    host: Path, controls: dict[str, PosixControl], copies: Path
):
    with open_run(host / "run", of="/srv/spec.yaml") as run:
        apply_plan(run, plan_for(host, controls), controls)
        for name in controls:
            assert_says(copies, run, name)
        told = copy_of(copies, run)
        first = told.entries[0]
        assert isinstance(first, Begun) and first.run == run.id and first.spec is None
        assert [step.host for step in first.plan.steps] == ["alpha", "alpha"]
        assert [e.number for e in told.entries if isinstance(e, Intent)] == [0, 1]
        assert outcome(told.entries) == "applied"
        about = About.model_validate_json((folder_of(copies, run) / "about.json").read_text())
        owner = parse_owner(about.owner)
        assert owner is not None and owner.run == run.id and about.of == "/srv/spec.yaml"
    modes = {stat.S_IMODE(path.stat().st_mode) for path in copies.rglob("*") if path.is_dir()}
    assert modes == {0o700} == {stat.S_IMODE(copies.stat().st_mode)}
    assert {stat.S_IMODE(p.stat().st_mode) for p in copies.rglob("*") if p.is_file()} == {0o600}


def test_an_undo_ends_in_a_copy_that_says_undone(
    host: Path, controls: dict[str, PosixControl], copies: Path
):
    with open_run(host / "run") as run:
        plan = plan_for(host, controls)
        apply_plan(run, plan, controls)
        assert not (folder_of(copies, run) / "undone").exists()
        undo_plan(run, plan, controls, "spec")
        assert_says(copies, run)
        assert outcome(copy_of(copies, run).entries) == "undone"
        assert (folder_of(copies, run) / "undone").exists()
        number = (folder_of(copies, run) / "number").read_text()
        run.begin_anew()
        apply_plan(run, plan, controls)
        assert_says(copies, run)
        assert not (folder_of(copies, run) / "undone").exists()
        assert int((folder_of(copies, run) / "number").read_text()) > int(number)


def test_an_intent_is_in_the_copy_before_the_change_is_made(
    host: Path, controls: dict[str, PosixControl], copies: Path
):
    with open_run(host / "run") as run:
        file = str(folder_of(copies, run) / "journal.jsonl")
        steps = [Seen(path=str(host / name), text="x", copy_of=file) for name in ("one", "two")]
        plan = make_plan(("alpha", step, controls["alpha"].read([step])[0]) for step in steps)
        apply_plan(run, plan, controls)
    for number, name in enumerate(("one", "two")):
        told = read_journal_text((host / f"{name}.seen").read_bytes())
        last = told.entries[-1]
        assert not told.damage and isinstance(last, Intent) and last.number == number
    assert isinstance(told.entries[-2], Result), "and the result of the step before"


def test_a_copy_costs_no_round_trip(host: Path, controls: dict[str, PosixControl]):
    plan = plan_for(host, controls)
    runners = [hand._runner for hand in controls.values()]
    for runner in runners:
        runner.trips = 0  # type: ignore[attr-defined]
    with open_run(host / "run") as run:
        apply_plan(run, plan, controls)
    # Taken, read once for all steps, a change for each, read once more, given back.
    assert [runner.trips for runner in runners] == [1 + 1 + 2 + 1 + 1, 1 + 1 + 1 + 1 + 1]  # type: ignore[attr-defined]


def programs_of(script: str, folder: Path) -> list[str]:
    """Run a part of a script; give the programs that it started, each of which is a fork."""
    (folder / "bin").mkdir()
    for name in ("cat", "head", "id", "mkdir", "mv", "rm", "stat", "sync", "wc"):
        real = shutil.which(name)
        shim = folder / "bin" / name
        shim.write_text(f'#!/bin/sh\necho {name} >>{folder}/ran\nexec {real} "$@"\n')
        shim.chmod(0o755)
    stub = 'show() { shift 2; "$@"; code=$?; }\nwhile :; do\n'
    done = LocalRunner().run(
        ["env", f"PATH={folder}/bin", "/bin/sh"], stdin=f"{stub}{script}break\ndone\nexit $code\n"
    )
    assert done.returncode == 0, done.stderr
    return (folder / "ran").read_text().split()


def test_lines_that_are_added_to_a_copy_cost_three_programs(
    host: Path, controls: dict[str, PosixControl], copies: Path
):
    with open_run(host / "run") as run:
        apply_plan(run, plan_for(host, controls), controls)
        folder = folder_of(copies, run)
    before = (folder / "journal.jsonl").read_bytes()
    batch = Batch(len(before), '{"a":1}\n', 1, is_must=True, is_undone=False)
    script = host_copy_script.keep_part(folder.name, batch)
    assert programs_of(script, host) == ["stat", "cat", "sync"]
    assert (folder / "journal.jsonl").read_bytes() == before + b'{"a":1}\n'
    assert sorted(path.name for path in folder.iterdir()) == [
        "about.json", "journal.jsonl", "number",
    ]  # fmt: skip


@pytest.mark.parametrize("lost", range(1, 7))
def test_an_answer_that_is_lost_leaves_a_whole_copy_when_the_run_goes_on(
    host: Path, controls: dict[str, PosixControl], copies: Path, lost: int
):
    plan = plan_for(host, controls)
    runner = controls["alpha"]._runner
    runner.trips, runner.loses = 0, lost  # type: ignore[attr-defined]
    with open_run(host / "run") as run:
        try:
            apply_plan(run, plan, controls)
        except (HostError, LeftChangedError):
            assert run.outcome in ("new", "unfinished")
            LocalRunner().run(["rm", "-rf", f"{host}/lock-alpha"])
        if run.outcome != "applied":
            apply_plan(run, run.plan or plan, controls)
        with lock_hosts(run, controls):
            pass
        assert run.outcome == "applied"
        assert_says(copies, run)
        undo_plan(run, plan, controls, "spec")
        assert_says(copies, run)
    assert (host / "old").read_text() == "before\n"


def test_a_copy_that_is_cut_short_or_behind_is_brought_up_to_date(
    host: Path, controls: dict[str, PosixControl], copies: Path
):
    with open_run(host / "run") as run:
        plan = plan_for(host, controls)
        apply_plan(run, plan, controls, until=1)
        path = folder_of(copies, run) / "journal.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:-1]) + lines[-1][:40])
        apply_plan(run, plan, controls)
        assert_says(copies, run)


def spoilt(data: bytes) -> bytes:
    return data.replace(b'"intent"', b'"intend"', 1)


@pytest.mark.parametrize("how", [spoilt, lambda data: b"\0" * len(data), lambda _: b""])
def test_a_damaged_journal_on_the_host_is_written_anew_from_the_run_folder(
    host: Path,
    controls: dict[str, PosixControl],
    copies: Path,
    how: Callable[[bytes], bytes],
    capsys: pytest.CaptureFixture[str],
):
    with open_run(host / "run") as run:
        plan = plan_for(host, controls)
        apply_plan(run, plan, controls)
        path = folder_of(copies, run) / "journal.jsonl"
        path.write_bytes(how(path.read_bytes()))
        undo_plan(run, plan, controls, "spec")
        assert (
            "alpha: its copy of the run's journal is written again from the run folder"
            in capsys.readouterr().err
        )
        assert_says(copies, run)
    assert (host / "old").read_text() == "before\n"


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def writable(path: Path) -> None:
    path.chmod(0o770 if path.is_dir() else 0o620)


def of_another(path: Path) -> None:
    os.chown(path, 65534, 65534)


def two_names(path: Path) -> None:
    path.with_name("second").hardlink_to(path)


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


PLANTED = {
    "a link": (link, "", "is a symbolic link"),
    "a link above": (link, "..", "is a symbolic link"),
    "others may write": (writable, "", "others may write to it"),
    "others may write above": (writable, "..", "others may write to it"),
    "of another user": (of_another, "", "is owned by uid 65534, not 0"),
    "file: a link": (link, "journal.jsonl", "is a symbolic link"),
    "file: others may write": (writable, "journal.jsonl", "others may write to it"),
    "file: of another user": (of_another, "journal.jsonl", "is owned by uid 65534"),
    "file: two names": (two_names, "journal.jsonl", "has 2 names (hard links)"),
    "file: a FIFO": (fifo, "journal.jsonl", "is not a regular file"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_copy_is_left_alone_and_nothing_new_is_changed_beside_it(
    host: Path,
    controls: dict[str, PosixControl],
    copies: Path,
    name: str,
    capsys: pytest.CaptureFixture[str],
):
    how, what, why = PLANTED[name]
    with open_run(host / "run") as run:
        plan = plan_for(host, controls)
        apply_plan(run, plan, controls, until=0)
        how(Path(os.path.normpath(folder_of(copies, run) / what)))
        with pytest.raises(InputError, match=r"host\.copy_differs") as caught:
            apply_plan(run, plan, controls)
        assert why in caught.value.found
        assert not (host / "new").exists() and not list(host.glob("lock*"))
        # What was done is taken back all the same: the run folder says how.
        undo_plan(run, plan, controls, "spec")
        assert why in capsys.readouterr().err
    assert (host / "old").read_text() == "before\n"


@pytest.mark.parametrize("name", ["a link above", "others may write above"])
def test_a_planted_folder_forbids_the_first_change(
    host: Path, controls: dict[str, PosixControl], copies: Path, name: str
):
    how, _, why = PLANTED[name]
    (copies / "runs").mkdir(parents=True)
    how(copies / "runs")
    written_at = (host / "old").stat().st_mtime_ns
    with open_run(host / "run") as run, pytest.raises(ApplyError) as caught:
        apply_plan(run, plan_for(host, controls), controls)
    assert caught.value.what == "step.failed"
    assert (host / "old").stat().st_mtime_ns == written_at, "not written and put back: not written"
    assert "copy of the journal is not kept" in caught.value.found and why in caught.value.found
    assert (host / "old").read_text() == "before\n" and not (host / "new").exists()
    assert not list(copies.rglob("journal.jsonl"))


class ByNetwork(CountingRunner):
    """The same, as if a network were in between: a step that cuts off is done with a timer."""

    def renew(self) -> None:
        """The next connection comes through."""


def test_a_step_that_may_cut_off_is_in_the_copy_first_and_not_done_without(
    host: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(guard_timer_change, "SETTLE_S", 0.1)
    controls = {"alpha": PosixControl("alpha", ByNetwork(f"{host}/lock-alpha"))}
    with open_run(host / "run") as run:
        file = str(folder_of(copies, run) / "journal.jsonl")
        step = Seen(path=str(host / "one"), text="x", copy_of=file)
        made = make_plan([("alpha", step, controls["alpha"].read([step])[0])])
        plan = Plan(steps=tuple(s.model_copy(update={"cuts": "it is the way"}) for s in made.steps))
        apply_plan(run, plan, controls)
        seen = read_journal_text((host / "one.seen").read_bytes())
        assert isinstance(seen.entries[-1], Intent) and not seen.damage
        assert_says(copies, run)
        undo_plan(run, plan, controls, "spec")
    link(copies / "runs")
    (host / "one.seen").unlink()
    with open_run(host / "second") as run, pytest.raises(ApplyError) as caught:
        apply_plan(run, plan, controls)
    assert "copy of the journal is not kept" in caught.value.found
    assert not (host / "one").exists() and not (host / "one.seen").exists()


def test_a_copy_that_would_be_too_long_forbids_the_change_and_no_undo(
    host: Path, controls: dict[str, PosixControl], copies: Path, monkeypatch: pytest.MonkeyPatch
):
    with open_run(host / "run") as run:
        plan = plan_for(host, controls)
        apply_plan(run, plan, controls, until=1)
        size = (folder_of(copies, run) / "journal.jsonl").stat().st_size
        monkeypatch.setattr(host_copy, "MAX_COPY_BYTES", size + 100)
        with pytest.raises(ApplyError, match=r"step\.failed") as caught:
            apply_plan(run, plan, controls)
        assert f"at most {size + 100}" in caught.value.found
        assert run.outcome == "undone" and (host / "old").read_text() == "before\n"


def test_of_too_many_copies_those_that_are_undone_are_removed(
    host: Path, controls: dict[str, PosixControl], copies: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(host_copy_script, "MAX_COPIES", 2)
    # Their text is made when the module is read.
    monkeypatch.setattr(host_copy_script, "_BEGIN", host_copy_script._BEGIN.replace(" 64 ", " 2 "))

    def applied(name: str, *, undo: bool = False) -> None:
        step = Note(path=str(host / name), text="x")
        plan = make_plan([("alpha", step, controls["alpha"].read([step])[0])])
        with open_run(host / f"run-{name}") as run:
            apply_plan(run, plan, controls)
            if undo:
                undo_plan(run, plan, controls, "spec")

    for name in ("a", "b"):
        applied(name, undo=name == "a")
    assert len(list((copies / "runs").iterdir())) == 2
    applied("c")
    assert len(list((copies / "runs").iterdir())) == 2
    with pytest.raises(ApplyError) as caught:
        applied("d")
    assert "2 runs are here" in caught.value.found and not (host / "d").exists()


def test_a_step_that_fails_is_put_back_and_the_copy_says_so(
    host: Path, controls: dict[str, PosixControl], copies: Path
):
    step = Failing(path=str(host / "new"), text="x")
    plan = make_plan([("alpha", step, controls["alpha"].read([step])[0])])
    with open_run(host / "run") as run:
        with pytest.raises(ApplyError, match=r"step\.failed"):
            apply_plan(run, plan, controls)
        assert_says(copies, run)
        assert outcome(copy_of(copies, run).entries) == "undone"


def test_a_host_that_was_lost_before_it_knew_of_the_undo_is_no_reason_to_refuse(
    host: Path, controls: dict[str, PosixControl], copies: Path
):
    """It was given back by hand; the next run in the folder begins its copy anew."""
    with open_run(host / "run") as run:
        plan = plan_for(host, controls)
        apply_plan(run, plan, controls)
        kept = (folder_of(copies, run) / "journal.jsonl").read_bytes()
        undo_plan(run, plan, controls, "spec")
        (folder_of(copies, run) / "journal.jsonl").write_bytes(kept)
        (folder_of(copies, run) / "undone").unlink()
    with open_run(host / "run") as run:
        run.begin_anew()
        apply_plan(run, plan, controls)
        assert_says(copies, run)


def test_a_run_begun_anew_and_killed_before_its_hosts_knew_is_applied(
    host: Path, controls: dict[str, PosixControl], copies: Path
):
    """Its first line equals that of the run that was undone, whose copy is longer."""
    with open_run(host / "run") as run:
        plan = plan_for(host, controls)
        apply_plan(run, plan, controls)
        undo_plan(run, plan, controls, "spec")
        run.begin_anew()
        run.write(Begun(at="now", plan=plan))
    with open_run(host / "run") as run:
        apply_plan(run, plan, controls)
        assert_says(copies, run)
        assert outcome(copy_of(copies, run).entries) == "applied"


def test_a_copy_that_stands_of_a_run_folder_that_knows_nothing_is_not_written_over(
    host: Path, controls: dict[str, PosixControl], copies: Path
):
    with open_run(host / "run") as run:
        plan = plan_for(host, controls)
        apply_plan(run, plan, controls)
        run.write(Ended(at="now", outcome="undone"))
        run.begin_anew()
        kept = (folder_of(copies, run) / "journal.jsonl").read_bytes()
    with open_run(host / "run") as run:
        assert run.entries == []
        with pytest.raises(InputError, match=r"host\.copy_differs") as caught:
            apply_plan(run, plan, controls)
        assert "another beginning of the same run, and that is applied" in caught.value.found
        assert (folder_of(copies, run) / "journal.jsonl").read_bytes() == kept


def ahead(host: Path, controls: dict[str, PosixControl]) -> Plan:
    """A run whose folder was brought back from a backup that was made before its undo."""
    with open_run(host / "run") as run:
        plan = plan_for(host, controls)
        apply_plan(run, plan, controls)
        backup = (host / "run" / "journal.jsonl").read_bytes()
        undo_plan(run, plan, controls, "spec")
    (host / "run" / "journal.jsonl").write_bytes(backup)
    return plan


def test_what_was_undone_from_elsewhere_is_not_undone_twice(
    host: Path, controls: dict[str, PosixControl], copies: Path, capsys: pytest.CaptureFixture[str]
):
    plan = ahead(host, controls)
    (host / "new").write_text("x\n")  # As another run left it since: the same as this one.
    with salvage_run(host / "run") as run:
        assert run.outcome == "applied"
        with pytest.raises(InputError, match=r"run\.behind"):
            apply_plan(run, plan, controls)
        with lock_hosts(run, controls) as held:
            roll_back(run, plan, controls, "spec", held)
        assert run.outcome == "undone"
        assert "the run was continued from another machine" in capsys.readouterr().err
    assert (host / "new").read_text() == "x\n"
    with salvage_run(host / "run") as run:
        assert outcome(copy_of(copies, run).entries) == "undone"
