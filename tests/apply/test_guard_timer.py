"""A host undoes a step itself unless somebody comes back: with this machine's own shell."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from claims import claim
from note_step import NASTY, Note

from wirespeed import catalog
from wirespeed.apply import control_script, guard_timer, guard_timer_change
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.control_script import change_script
from wirespeed.apply.executor import Executor
from wirespeed.apply.guard_timer import Outcome, arm_script, confirmed, taken, undo_script
from wirespeed.apply.guard_timer_control import with_rollback
from wirespeed.apply.planner import make_plan
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.local import LocalRunner
from wirespeed.host.process import Child
from wirespeed.host.runner import Completed
from wirespeed.model.capture import parse_capture
from wirespeed.model.command import Command
from wirespeed.model.error import ApplyError, HostError, LeftChangedError
from wirespeed.model.journal import Entry, Result, Verified
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan

SOON_S = 2
TOKEN = f"{claim().run}-t"


class Network:
    """This machine as if it were reached by a network, which a text in a file may cut."""

    def __init__(self, way: Path) -> None:
        self._runner, self._way = LocalRunner(), way
        self.renewed = 0
        self.is_gone = False

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = 1 << 20,
    ) -> Completed:
        self._pass()
        done = self._runner.run(argv, timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes)
        self._pass()
        return done

    def renew(self) -> None:
        self.renewed += 1

    def _pass(self) -> None:
        if self.is_gone or self._way.read_text() == "cut\n":
            raise HostError("ssh.unreachable", where="alpha", found="no route to host")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(catalog, "step_types", lambda: {"note": Note})
    monkeypatch.setattr(guard_timer, "FOLDER", str(tmp_path / "run"))
    monkeypatch.setattr(control_script, "LOCK", str(tmp_path / "lock"))
    monkeypatch.setattr(guard_timer_change, "PAUSE_S", 0.1)
    monkeypatch.setattr(guard_timer_change, "SETTLE_S", 0.5)
    return tmp_path / "run"


@pytest.fixture
def way(tmp_path: Path) -> Path:
    path = tmp_path / "way"
    path.write_text("open\n")
    return path


def plan_for(way: Path, text: str) -> Plan:
    step = Note(path=str(way), text=text)
    state = PosixControl("here", LocalRunner()).read([step])[0]
    plan = make_plan([("alpha", step, state)])
    steps = [one.model_copy(update={"cuts": "it is the way"}) for one in plan.steps]
    return Plan(steps=tuple(steps))


def executor(
    plan: Plan, network: Network, journal: list[Entry], within_s: int = SOON_S
) -> Executor:
    control = with_rollback(plan, {"alpha": PosixControl("alpha", network)}, within_s)
    return Executor(plan, control, journal.append, lambda: "now", tuple(journal))


def sleepers(folder: Path) -> list[str]:
    listed = LocalRunner().run(["ps", "-eww", "-o", "args"])
    return [line for line in listed.output.splitlines() if str(folder) in line]


def await_no_sleeper(folder: Path) -> None:
    """Wait for the timer to go: it is killed, and a busy machine lets it die a moment later."""
    deadline = Deadline(20)
    while left := sleepers(folder):
        assert not deadline.expired, left
        sleep_s(0.1)


def await_text(path: Path, text: str) -> None:
    deadline = Deadline(20)
    while path.read_text() != text:
        assert not deadline.expired, path.read_text()
        sleep_s(0.1)


def test_a_step_that_leaves_the_way_open_is_confirmed_and_stays(way: Path, folder: Path):
    network, journal = Network(way), []
    executor(plan_for(way, NASTY), network, journal).apply()
    assert network.renewed == 1, "the old connection proves nothing"
    sleep_s(SOON_S + 1)
    assert way.read_text() == NASTY + "\n"
    await_no_sleeper(folder)


def test_a_step_that_cuts_is_undone_by_the_host_and_the_error_says_so(way: Path):
    network, journal = Network(way), []
    with pytest.raises(ApplyError) as caught:
        executor(plan_for(way, "cut"), network, journal).apply()
    assert caught.value.what == "step.cut_off"
    assert f"within {SOON_S} s" in caught.value.found
    assert "the host undid it itself" in caught.value.found
    assert way.read_text() == "open\n"
    [result] = [entry for entry in journal if isinstance(entry, Result)]
    assert result.verdict is Verified.CUT_OFF
    assert result.now == {"text": "open"}


def test_killed_before_it_could_confirm_the_host_undoes_it(way: Path):
    plan, network = plan_for(way, "cut"), Network(way)
    control = PosixControl("alpha", network)
    step = Note(path=str(way), text="cut")
    undo = step.change({"text": "cut"}, {"text": "open"})
    with pytest.raises(HostError):
        # As far as a process gets that is killed after its change.
        control._ask(arm_script("t", undo, SOON_S), 10)
        control._ask(change_script(step, plan.steps[0].commands), 10)
    await_text(way, "open\n")
    assert control.read([step]) == [Known({"text": "open"}, f"cat {way}")]


def test_whoever_takes_the_host_next_has_what_is_armed_undone_first(way: Path, folder: Path):
    step = Note(path=str(way), text="new")
    undo = step.change({"text": "new"}, {"text": "open"})
    control = PosixControl("alpha", Network(way))
    assert guard_timer.armed(control._ask(arm_script(TOKEN, undo, 600), 10)) == ""
    control.change(step, step.change({"text": "open"}, {"text": "new"}))
    assert way.read_text() == "new\n"
    control.lock(claim())
    assert way.read_text() == "open\n"
    await_no_sleeper(folder)  # and the timer is ended
    control.unlock(claim())
    assert not folder.exists(), "nothing is left on the host"


def test_a_way_that_closes_a_moment_after_the_change_is_no_proof(
    way: Path, monkeypatch: pytest.MonkeyPatch
):
    """As where udev gives a new bond another address."""
    monkeypatch.setattr(guard_timer_change, "SETTLE_S", 2)
    look = f"grep -q late {way} && echo cut >{way}; sleep 0.1"
    trap = ["sh", "-c", f"for i in $(seq 80); do {look}; done"]
    with Child(trap, role="trap"), pytest.raises(ApplyError) as caught:
        executor(plan_for(way, "late"), Network(way), [], within_s=8).apply()
    assert caught.value.what == "step.cut_off"
    assert way.read_text() == "open\n"


def test_a_timer_that_does_not_start_lets_nothing_be_changed(way: Path, folder: Path):
    folder.write_text("in the way")
    with pytest.raises(ApplyError) as caught:
        executor(plan_for(way, "new"), Network(way), []).apply()
    assert caught.value.what == "step.failed"
    assert "its timer was not started" in caught.value.found
    assert way.read_text() == "open\n"


def test_no_command_is_begun_once_the_host_has_taken_it_back(way: Path, folder: Path):
    (folder / "wirespeed-undo-t/taken").mkdir(parents=True)
    step = Note(path=str(way), text="new")
    script = control_script.change_script(
        step, [Command(argv=("tee", str(way)), stdin="new")], taken("t")
    )
    done = LocalRunner().run(["sh", "-s"], stdin=script)
    assert way.read_text() == "open\n"
    assert "begin change-0" not in done.output


def test_a_command_of_the_undo_that_fails_is_named_and_the_others_are_run(way: Path, folder: Path):
    step = Note(path=str(way), text="x")
    undo = (
        Command(argv=("ls", "/nowhere/at all")),
        Command(argv=("tee", str(way)), stdin=NASTY),
    )
    PosixControl("a", LocalRunner())._ask(arm_script(TOKEN, undo, 600), 10)
    LocalRunner().run(["sh", str(folder / f"wirespeed-undo-{TOKEN}/undo")])
    done = LocalRunner().run(["sh", "-s"], stdin=guard_timer.confirm_script(TOKEN, step))
    outcome, now = confirmed(parse_capture(done.output, "a"), step, undo)
    assert outcome is Outcome.UNDONE
    assert now.failed == "ls '/nowhere/at all'"
    assert way.read_text() == NASTY + "\n"
    PosixControl("a", LocalRunner()).lock(claim())
    await_no_sleeper(folder)


def test_to_confirm_twice_is_to_confirm_once(way: Path, folder: Path):
    step = Note(path=str(way), text="open")
    PosixControl("a", LocalRunner())._ask(arm_script("t", (), 600), 10)
    for _ in range(2):
        done = LocalRunner().run(["sh", "-s"], stdin=guard_timer.confirm_script("t", step))
        assert confirmed(parse_capture(done.output, "a"), step, ())[0] is Outcome.CONFIRMED
    await_no_sleeper(folder)


def test_a_host_that_was_started_again_is_told(way: Path):
    step = Note(path=str(way), text="open")
    done = LocalRunner().run(["sh", "-s"], stdin=guard_timer.confirm_script("t", step))
    assert confirmed(parse_capture(done.output, "a"), step, ())[0] is Outcome.GONE


def test_a_host_that_never_comes_back_is_left_changed(
    way: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(guard_timer_change, "LATEST_S", 0.5)
    network = Network(way)
    plan = plan_for(way, "cut")
    network.renew = lambda: setattr(network, "is_gone", True)  # type: ignore[method-assign]
    with pytest.raises(LeftChangedError) as caught:
        executor(plan, network, []).apply()
    assert caught.value.what == "host.cut_off"
    assert "no route to host" in caught.value.found
    await_text(way, "open\n")
    await_no_sleeper(folder)


def test_what_the_timer_runs_is_quoted_and_claims_first():
    script = undo_script("t", [Command(argv=("ip", "link", "set", "a b;c", "up"))])
    lines = script.splitlines()
    assert lines[0] == "#!/bin/sh"
    claim = next(i for i, line in enumerate(lines) if "mkdir taken" in line)
    assert lines[claim].endswith("mkdir taken 2>/dev/null || exit 0")
    assert next(i for i, line in enumerate(lines) if "'a b;c'" in line) > claim
