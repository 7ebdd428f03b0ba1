"""A host that takes a run back by itself leaves alone what others changed, and says which."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from note_step import Note

from wirespeed import catalog
from wirespeed.apply import control_script, guard_timer, host_copy_script, tryout_script
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import Run, open_run
from wirespeed.host.local import LocalRunner
from wirespeed.model.error import ApplyError, LeftChangedError
from wirespeed.model.journal import Ended, StepProgress, progress
from wirespeed.model.journal_part import part_of
from wirespeed.model.plan import Plan
from wirespeed.model.step import Step
from wirespeed.runs.keep_run import keep
from wirespeed.runs.run_hosts import HowUndone, apply_plan, undo_plan

LONG_S = 600
FILES = ("one", "two", "three")


class Folder(Note):
    """A folder, which another step writes into."""

    makes: ClassVar[bool] = True
    step: Literal["folder"] = "folder"  # type: ignore[assignment]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(catalog, "step_types", lambda: {"note": Note, "folder": Folder})
    monkeypatch.setattr(control_script, "LOCK", str(tmp_path / "lock"))
    monkeypatch.setattr(guard_timer, "FOLDER", str(tmp_path / "timers"))
    monkeypatch.setattr(tryout_script, "FOLDER", str(tmp_path / "try"))
    monkeypatch.setattr(tryout_script, "SYSTEMD", str(tmp_path / "no-systemd"))
    (tmp_path / "one").write_text("was\n")
    yield tmp_path
    for sleeper in tmp_path.glob("try/*/sleeper"):
        LocalRunner().run(["kill", "-s", "TERM", "--", f"-{sleeper.read_text().strip()}"])


@pytest.fixture
def controls() -> dict[str, PosixControl]:
    return {"alpha": PosixControl("alpha", LocalRunner())}


def applied(run: Run, controls: dict[str, PosixControl], *steps: Step) -> Plan:
    rows = [("alpha", step, controls["alpha"].read([step])[0]) for step in steps]
    plan = make_plan(rows)
    assert apply_plan(run, plan, controls, try_s=LONG_S) == "ended"
    return plan


def notes(host: Path) -> list[Step]:
    return [Note(path=str(host / name), text="ours") for name in FILES]


def time_passes(host: Path, run: Run) -> str:
    """Let the host's time be over; give what it says of it."""
    folder = host / "try" / run.id
    LocalRunner().run(["sh", str(folder / "undo")])
    return (folder / "result").read_text()


def left_alone(host: Path, run: Run) -> list[str]:
    """Let the host's time be over; give the files that it says it left alone, by its log."""
    words = time_passes(host, run).split()
    log = (host / "try" / run.id / "log").read_text().splitlines()
    alone = [line.removesuffix(" is left alone") for line in log if line.endswith(" is left alone")]
    assert words[:2] == ["undone", "left"] and len(words) == 2 + len(alone), words
    return [Path(name).name for name in alone]


def contents(host: Path) -> list[str | None]:
    paths = [host / name for name in FILES]
    return [path.read_text() if path.exists() else None for path in paths]


def test_a_try_timer_leaves_alone_what_a_colleague_set_and_undo_names_it(
    host: Path, controls: dict[str, PosixControl], capsys: pytest.CaptureFixture[str]
):
    with open_run(host / "run") as run:
        plan = applied(run, controls, *notes(host))
        (host / "two").write_text("theirs\n")
        assert left_alone(host, run) == ["two"]
        assert contents(host) == ["was\n", "theirs\n", None]
        capsys.readouterr()
        with pytest.raises(LeftChangedError) as caught:
            undo_plan(run, plan, controls, "spec")
        assert caught.value.what == "host.changed_by_others"
        assert caught.value.where == f"step 2 note {host}/two on alpha"
        said = capsys.readouterr()
        assert f"alpha: it left step 2 note {host}/two alone: others changed it" in said.err
        assert f"restored      note {host}/two" not in said.out
        assert contents(host) == ["was\n", "theirs\n", None]
        assert run.entries[-1] == Ended(at=run.entries[-1].at, outcome="left changed")  # type: ignore[union-attr]
        undo_plan(run, plan, controls, "spec", HowUndone(force=True))
        assert contents(host) == ["was\n", None, None]


def test_a_try_timer_that_left_something_alone_is_named_by_who_confirms_too_late(
    host: Path, controls: dict[str, PosixControl], capsys: pytest.CaptureFixture[str]
):
    with open_run(host / "run") as run:
        plan = applied(run, controls, *notes(host))
        (host / "one").write_text("theirs\n")
        time_passes(host, run)
        with pytest.raises(LeftChangedError) as caught:
            keep(run, plan, controls, "spec")
    assert caught.value.where == f"step 1 note {host}/one on alpha"
    assert "it left step 1" in capsys.readouterr().err
    assert contents(host) == ["theirs\n", None, None]


def test_a_try_timer_takes_all_back_where_a_colleague_brought_one_back_himself(
    host: Path, controls: dict[str, PosixControl]
):
    with open_run(host / "run") as run:
        plan = applied(run, controls, *notes(host))
        (host / "two").unlink()
        assert time_passes(host, run) == "undone\n"
        with pytest.raises(ApplyError, match=r"try\.went_back"):
            keep(run, plan, controls, "spec")
        assert set(progress(plan, run.entries)) == {StepProgress.UNDONE}


def test_a_try_timer_leaves_alone_what_hangs_together_with_what_a_colleague_set(
    host: Path, controls: dict[str, PosixControl]
):
    """The folder's own undo would take away what a colleague made of the thing in it."""
    made, within = str(host / "one"), str(host / "two")
    with open_run(host / "run") as run:
        steps = [Folder(path=made, text=within), Folder(path=within, text=made)]
        plan = applied(run, controls, *steps, Note(path=str(host / "three"), text="ours"))
        assert (host / "two").read_text() == f"{made}\n"
        (host / "two").write_text("theirs\n")
        assert left_alone(host, run) == ["two", "one"]
        assert contents(host) == [f"{within}\n", "theirs\n", None]
        with pytest.raises(LeftChangedError) as caught:
            undo_plan(run, plan, controls, "spec")
        assert "hangs together" in caught.value.so
        assert contents(host) == [f"{within}\n", "theirs\n", None]


def test_a_try_timer_knows_how_a_later_step_left_what_an_earlier_one_had_set(
    host: Path, controls: dict[str, PosixControl]
):
    again = Note(path=str(host / "one"), text="ours, later")
    with open_run(host / "run") as run:
        first = Note(path=str(host / "one"), text="ours")
        plan = make_plan(
            [
                ("alpha", first, controls["alpha"].read([first])[0]),
                ("alpha", again, controls["alpha"].read([again])[0]),
            ]
        )
        apply_plan(run, plan, controls, try_s=LONG_S)
        assert (host / "one").read_text() == "ours, later\n"
        assert time_passes(host, run) == "undone\n"
        assert (host / "one").read_text() == "was\n"


def test_a_try_timer_takes_back_what_a_reboot_altered(
    host: Path, controls: dict[str, PosixControl]
):
    """How the run left it is known of that boot alone."""
    with open_run(host / "run") as run:
        applied(run, controls, *notes(host))
        (left,) = (host / "try" / run.id / "left").iterdir()
        left.rename(left.with_name("another-boot"))
        (host / "one").write_text("as this boot has it\n")
        assert time_passes(host, run) == "undone\n"
        assert contents(host) == ["was\n", None, None]


def test_a_try_timer_takes_back_what_an_older_release_noted(
    host: Path, controls: dict[str, PosixControl]
):
    with open_run(host / "run") as run:
        applied(run, controls, *notes(host))
        older = host / "try" / run.id / "steps/000001"
        older.write_text(f"limit=\n$limit rm {host}/older\nexit $?\n")
        (host / "older").write_text("x")
        assert time_passes(host, run) == "undone\n"
        assert contents(host) == ["was\n", None, None]
        assert not (host / "older").exists()


def test_a_try_timer_of_a_controller_that_died_in_the_midst_leaves_a_colleague_s_value(
    host: Path, controls: dict[str, PosixControl]
):
    rows = [("alpha", step, controls["alpha"].read([step])[0]) for step in notes(host)]
    plan = make_plan(rows)
    with open_run(host / "run") as run:
        assert apply_plan(run, plan, controls, try_s=LONG_S, until=1) == "stopped"
        (host / "two").write_text("theirs\n")
        assert left_alone(host, run) == ["two"]
        assert contents(host) == ["was\n", "theirs\n", None]


def test_a_try_timer_is_told_of_by_an_undo_from_the_host_s_own_copy(
    host: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The copy has the steps of its host alone, with numbers of their own."""
    monkeypatch.setattr(host_copy_script, "FOLDER", str(host / "copies"))
    controls = {name: PosixControl(name, LocalRunner()) for name in ("alpha", "beta")}
    rows = zip(("alpha", "alpha", "beta"), notes(host), strict=True)
    plan = make_plan([(at, step, controls[at].read([step])[0]) for at, step in rows])
    with open_run(host / "run") as run:
        apply_plan(run, plan, controls, try_s=LONG_S)
        (host / "three").write_text("theirs\n")
        assert left_alone(host, run) == ["three"]
        entries, name = part_of(run.entries, "beta", run.id), run.id
    with open_run(host / "again") as run:
        run.id = name
        for entry in entries:
            run.write(entry)
        assert run.plan is not None and len(run.plan.steps) == 1
        with pytest.raises(LeftChangedError) as caught:
            undo_plan(run, run.plan, {"beta": PosixControl("beta", LocalRunner())}, "spec")
        assert caught.value.where == f"step 1 note {host}/three on beta"
    assert f"beta: it left step 1 note {host}/three alone" in capsys.readouterr().err
    assert contents(host) == ["was\n", None, "theirs\n"]
