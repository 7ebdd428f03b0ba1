"""The timer of one step that may cut off leaves alone what others changed, where it can read."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from claims import claim
from note_step import Note

from wirespeed import catalog
from wirespeed.apply import control_script, guard_timer, guard_timer_change, host_copy_script
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.executor import Executor
from wirespeed.apply.guard_timer_control import with_rollback
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import open_run
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.local import LocalRunner
from wirespeed.model.command import Command
from wirespeed.model.error import ApplyError, LeftChangedError
from wirespeed.model.journal import Entry, Result, Verified
from wirespeed.model.plan import Plan
from wirespeed.model.step import Step
from wirespeed.runs.run_hosts import HowUndone, apply_plan, undo_plan

SOON_S, LONG_S = 2, 600


class Breaking(Note):
    """Its reading fails where `PATH.broken` is there, as on a host that is half broken."""

    step: Literal["breaking"] = "breaking"  # type: ignore[assignment]

    def read(self) -> Command:
        fails = f"[ ! -e {self.path}.broken ] || {{ echo no answer >&2; exit 3; }}; cat {self.path}"
        return Command(argv=("sh", "-c", fails))


class Settling(Note):
    """Its state is known only some time after the change."""

    settle_s: ClassVar[float] = 5
    step: Literal["settling"] = "settling"  # type: ignore[assignment]


class LongWay(LocalRunner):
    """A host that is reached again only when its timer is over; a colleague was there before."""

    def __init__(self, way: Path, timers: Path, *, breaks: bool = False) -> None:
        super().__init__()
        self._way, self._timers, self._breaks = way, timers, breaks

    def renew(self) -> None:
        await_looked(self._timers)
        if self._way.read_text() == "ours\n":
            self._way.write_text("theirs\n")
        if self._breaks:
            Path(f"{self._way}.broken").touch()
        deadline = Deadline(20)
        while not list(self._timers.glob("*/result")):
            assert not deadline.expired
            sleep_s(0.1)
        Path(f"{self._way}.broken").unlink(missing_ok=True)


def await_looked(timers: Path) -> None:
    """Wait until the host knows how the change left it, where it is to look."""
    deadline = Deadline(20)
    while [path for path in timers.glob("*/look") if not path.with_name("left").exists()]:
        assert not deadline.expired
        sleep_s(0.05)


@pytest.fixture(autouse=True)
def timers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    kinds = {"note": Note, "breaking": Breaking, "settling": Settling}
    monkeypatch.setattr(catalog, "step_types", lambda: kinds)
    monkeypatch.setattr(guard_timer, "FOLDER", str(tmp_path / "run"))
    monkeypatch.setattr(control_script, "LOCK", str(tmp_path / "lock"))
    monkeypatch.setattr(host_copy_script, "FOLDER", str(tmp_path / "copies"))
    monkeypatch.setattr(guard_timer_change, "PAUSE_S", 0.1)
    monkeypatch.setattr(guard_timer_change, "SETTLE_S", 0.1)
    monkeypatch.setattr(guard_timer, "LOOK_S", 0.1)
    (tmp_path / "way").write_text("open\n")
    yield tmp_path / "run"
    for sleeper in tmp_path.glob("run/*/sleeper"):
        LocalRunner().run(["kill", "-s", "TERM", "--", f"-{sleeper.read_text().strip()}"])


def plan_for(step: Step) -> Plan:
    plan = make_plan([("alpha", step, PosixControl("here", LocalRunner()).read([step])[0])])
    steps = [one.model_copy(update={"cuts": "it is the way"}) for one in plan.steps]
    return Plan(steps=tuple(steps))


def executor(plan: Plan, runner: LocalRunner, journal: list[Entry]) -> Executor:
    control = with_rollback(plan, {"alpha": PosixControl("alpha", runner)}, SOON_S)
    return Executor(plan, control, journal.append, lambda: "now", tuple(journal))


def test_a_try_timer_of_one_step_leaves_alone_what_a_colleague_set(tmp_path: Path, timers: Path):
    way, journal = tmp_path / "way", list[Entry]()
    plan, runner = plan_for(Note(path=str(way), text="ours")), LongWay(way, timers)
    for _ in range(2):
        run = executor(plan, runner, journal)
        with pytest.raises(LeftChangedError) as caught:
            run.undo() if journal else run.apply()
        assert caught.value.what == "host.changed_by_others"
        assert "left as text ours, is now text theirs, was text open before" in caught.value.found
        assert way.read_text() == "theirs\n"
    [result] = [entry for entry in journal if isinstance(entry, Result)]
    assert result.verdict is Verified.CUT_OFF
    assert result.said.endswith("the host left it alone: others changed it after the change")
    executor(plan, runner, journal).undo(force=True)
    assert way.read_text() == "open\n"


def test_a_try_timer_of_one_step_whose_controller_was_killed_is_named_by_undo(
    tmp_path: Path,
    timers: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    def die(_: float) -> None:
        raise KeyboardInterrupt

    way = tmp_path / "way"
    plan = plan_for(Note(path=str(way), text="ours"))
    runner = LongWay(way, timers)
    with open_run(tmp_path / "folder") as run, monkeypatch.context() as patch:
        patch.setattr(guard_timer_change, "sleep_s", die)
        patch.setattr(PosixControl, "unlock", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            apply_plan(run, plan, {"alpha": PosixControl("alpha", runner)}, LONG_S)
    assert way.read_text() == "ours\n"
    await_looked(timers)
    way.write_text("theirs\n")
    with open_run(tmp_path / "folder") as run:
        for is_first in (True, False):
            with pytest.raises(LeftChangedError) as caught:
                undo_plan(run, plan, {"alpha": PosixControl("alpha", runner)}, "spec")
            assert caught.value.what == "host.changed_by_others"
            said = capsys.readouterr()
            assert ("alpha: it left step 1 note" in said.err) == is_first
            assert "restored" not in said.out
            assert way.read_text() == "theirs\n"
        force = HowUndone(force=True)
        undo_plan(run, plan, {"alpha": PosixControl("alpha", runner)}, "spec", force)
    assert way.read_text() == "open\n" and not list(timers.glob("*"))


@pytest.mark.parametrize("kind", [Breaking, Settling])
def test_a_try_timer_of_one_step_puts_the_way_first_where_it_cannot_compare(
    tmp_path: Path, timers: Path, kind: type[Note]
):
    way = tmp_path / "way"
    plan, runner = plan_for(kind(path=str(way), text="ours")), LongWay(way, timers, breaks=True)
    with pytest.raises(ApplyError) as caught:
        executor(plan, runner, []).apply()
    assert caught.value.what == "step.cut_off" and "the host undid it itself" in caught.value.found
    assert way.read_text() == "open\n"


def test_a_try_timer_of_one_step_is_undone_by_the_next_run_where_no_colleague_came(
    tmp_path: Path, timers: Path
):
    step = Note(path=str(tmp_path / "way"), text="ours")
    control, token = PosixControl("alpha", LocalRunner()), f"{claim().run}-t"
    commands, undo = plan_for(step).steps[0].commands, plan_for(step).steps[0].undo
    control._ask(guard_timer.arm_script(token, undo, LONG_S, step), 10)
    control._ask(guard_timer_change.POSIX.change(token, step, commands, None), 10)
    assert (tmp_path / "way").read_text() == "ours\n"
    control.lock(claim())
    assert (tmp_path / "way").read_text() == "open\n"
    assert not control.has_left_alone
    control.unlock(claim())
    assert not list(timers.glob("*"))
