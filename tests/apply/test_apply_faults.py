"""What may go wrong in the midst of an apply: disks, connections, commands that hang."""

import resource
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from claims import claim
from described_host import DescribedHost, Put
from note_step import Note

from wirespeed import catalog
from wirespeed.apply import control_posix, control_script
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.executor import Executor
from wirespeed.apply.interrupted import interrupted
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import open_run
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import Completed
from wirespeed.model.command import Command
from wirespeed.model.error import ApplyError, HostError, InputError
from wirespeed.model.journal import Entry, Intent, Result, Verified
from wirespeed.model.plan import Plan
from wirespeed.model.step import State


class Slow(Note):
    """It waits before it writes, for as long as `seconds` says."""

    step: Literal["slow"] = "slow"  # type: ignore[assignment]
    seconds: int
    waits_also_back: ClassVar[bool] = False

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        commands = super().commands(now, to)
        is_forward = to == {"text": self.text}
        wait = Command(argv=("sleep", str(self.seconds)))
        return (wait, *commands) if commands and is_forward else commands


@pytest.fixture(autouse=True)
def _own_steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kinds = {"note": Note, "slow": Slow, "put": Put}
    monkeypatch.setattr(catalog, "step_types", lambda: kinds)
    monkeypatch.setattr(control_script, "LOCK", str(tmp_path / "lock"))
    (tmp_path / "lock").mkdir()
    monkeypatch.setattr(control_posix, "PAUSE_S", 0.05)


class Line:
    """A connection to this machine that is lost at a script of a change, before or after it ran.

    `down`: how many times in a row nobody is let in then. `left`: it runs on without us.
    """

    def __init__(self, lost: str, down: int = 0) -> None:
        self.lost, self.down = lost, down
        self.left: subprocess.Popen[str] | None = None
        self.changes = 0
        self._runner = LocalRunner()

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = 1 << 20,
    ) -> Completed:
        error = HostError("ssh.lost", where="alpha", found="the connection ended", next="wait")
        if self.changes and self.down:
            self.down -= 1
            raise error
        if stdin is None or "# Changes one thing." not in stdin:
            return self._runner.run(argv, timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes)
        self.changes += 1
        if self.lost == "before" and self.changes == 1:
            raise error
        if self.lost == "under way" and self.changes == 1:
            self.left = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
            )
            assert self.left.stdin is not None
            self.left.stdin.write(stdin)
            self.left.stdin.close()
            # As sshd does, whoever started it takes note of its end.
            threading.Thread(target=self.left.wait).start()
            # It is under way when it has said so; on a busy machine that takes a moment.
            deadline = Deadline(30)
            while not Path(control_script.LOCK, "change").exists() and not deadline.expired:
                sleep_s(0.01)
            raise error
        done = self._runner.run(argv, timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes)
        if self.lost == "after" and self.changes == 1:
            raise error
        return done

    def renew(self) -> None:
        pass


def plan_of(*steps: Note) -> Plan:
    states = PosixControl("here", LocalRunner()).read(steps)
    return make_plan(("alpha", step, state) for step, state in zip(steps, states, strict=True))


def executor(plan: Plan, line: Line | LocalRunner, journal: list[Entry]) -> Executor:
    controls = {"alpha": PosixControl("alpha", line)}
    return Executor(plan, controls, journal.append, lambda: "now", tuple(journal))


class TestConnection:
    @pytest.mark.parametrize("down", [0, 3])
    def test_the_answer_is_lost_and_the_host_says_that_it_is_done(self, tmp_path: Path, down: int):
        path, journal = tmp_path / "a", []
        line = Line("after", down)
        executor(plan_of(Note(path=str(path), text="x")), line, journal).apply()
        assert (path.read_text(), line.changes) == ("x\n", 1), "once, and not twice"

    def test_it_never_got_there_and_all_is_put_back(self, tmp_path: Path):
        first, second = tmp_path / "a", tmp_path / "b"
        plan = plan_of(Note(path=str(second), text="x"), Note(path=str(first), text="x"))
        with pytest.raises(ApplyError) as caught:
            executor(plan, Line("before"), []).apply()
        assert caught.value.what == "step.contradicted"
        assert not first.exists()
        assert not second.exists()

    def test_what_still_runs_there_is_waited_for(self, tmp_path: Path):
        path, journal = tmp_path / "a", []
        line = Line("under way")
        executor(plan_of(Slow(path=str(path), text="x", seconds=2)), line, journal).apply()
        assert line.left is not None
        line.left.wait(10)
        assert path.read_text() == "x\n"
        assert [e.verdict for e in journal if isinstance(e, Result)] == [Verified.VERIFIED]

    def test_whoever_takes_the_host_next_waits_for_it_too(self, tmp_path: Path):
        path = tmp_path / "a"
        line = Line("under way")
        (tmp_path / "lock").rmdir()
        controls = PosixControl("alpha", line)
        controls.lock(claim())
        step = Slow(path=str(path), text="x", seconds=2)
        with pytest.raises(HostError):
            controls._ask(
                control_script.change_script(step, step.change({"text": None}, {"text": "x"})), 10
            )
        PosixControl("alpha", LocalRunner()).lock(claim())
        assert path.read_text() == "x\n", "before it was at its end, nobody got the host"
        assert line.left is not None
        line.left.wait(10)

    def test_the_host_stays_away_and_the_error_says_how_the_run_stands(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(control_posix, "RECONNECT_S", 0.2)
        path, journal = tmp_path / "a", []
        plan = plan_of(Note(path=str(path), text="x"))
        with pytest.raises(HostError) as caught:
            executor(plan, Line("after", down=10**6), journal).apply()
        error = interrupted(caught.value, journal, "spec.yaml")
        assert error is not None
        assert (error.what, error.where, error.exit_code) == ("run.interrupted", "alpha", 3)
        assert error.found == "ssh.lost: the connection ended"
        assert error.so == (
            f"the run is not finished: 0 of 1 steps are in place, and note {path} on alpha may or "
            "may not be written"
        )
        assert "`wirespeed apply spec.yaml` continues" in error.next
        assert "`wirespeed undo spec.yaml` undoes all of it" in error.next
        executor(plan, LocalRunner(), journal).undo()
        assert not path.exists()

    def test_before_anything_was_written_the_error_is_the_host_s_own(self):
        error = HostError("ssh.lost", where="alpha", found="the connection ended")
        assert interrupted(error, [], "spec.yaml") is None


def test_a_command_that_hangs_is_ended_and_all_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(control_script, "CHANGE_TIMEOUT_S", 1)
    first, second = tmp_path / "a", tmp_path / "b"
    plan = plan_of(Note(path=str(first), text="x"), Slow(path=str(second), text="x", seconds=600))
    with pytest.raises(ApplyError) as caught:
        executor(plan, LocalRunner(), []).apply()
    assert caught.value.what == "step.failed"
    assert caught.value.found == "sleep 600: still running after 1 s, and ended"
    assert not first.exists()
    assert not second.exists()


START = {"a": 1, "b": 2, "c": 3}
STEPS = [Put(key=key, value=10) for key in START]


def put_plan(host: DescribedHost) -> Plan:
    states = host.read(STEPS)
    return make_plan(("alpha", step, state) for step, state in zip(STEPS, states, strict=True))


def assert_no_write_without_its_intent(folder: Path, host: DescribedHost) -> None:
    """By the file as it is, and by what the host was sent."""
    with open_run(folder) as run:
        intents = {e.number for e in run.entries if isinstance(e, Intent)}
    written = {
        step for step in range(len(STEPS)) if host.values[STEPS[step].key] != START[STEPS[step].key]
    }
    assert written <= intents


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond `size`: the kernel refuses, as with a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_is_full_at_any_byte_stops_all_writing_to_hosts(tmp_path: Path):
    whole = tmp_path / "whole"
    with open_run(whole) as run:
        host = DescribedHost(dict(START))
        Executor(put_plan(host), {"alpha": host}, run.write, lambda: "now").apply()
    size = (whole / "journal.jsonl").stat().st_size
    stopped = 0
    for limit in range(0, size, 97):
        folder, host = tmp_path / str(limit), DescribedHost(dict(START))
        plan = put_plan(host)
        with open_run(folder) as run:
            try:
                with files_of_at_most(limit):
                    Executor(plan, {"alpha": host}, run.write, lambda: "now").apply()
            except InputError as error:
                assert error.what == "file.unwritable"
                sent = len(host.ran)
                stopped += 1
                told = interrupted(error, run.entries, "spec.yaml")
                assert (told is None) == (sent == 0)
        assert_no_write_without_its_intent(folder, host)
        with open_run(folder) as run:
            # There is room again.
            Executor(plan, {"alpha": host}, run.write, lambda: "now", run.entries).undo()
        assert host.values == START, limit
    assert stopped == len(range(0, size, 97))


def test_a_disk_that_is_really_full(tmp_path: Path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root may mount; the test above limits files instead")
    try:
        start = {f"key{number}": 0 for number in range(40)}
        host = DescribedHost(dict(start))
        steps = [Put(key=key, value=1) for key in start]
        states = host.read(steps)
        plan = make_plan(("alpha", step, s) for step, s in zip(steps, states, strict=True))
        with open_run(folder / "run") as run:

            def write(entry: Entry) -> None:
                if isinstance(entry, Intent) and entry.number == 1:
                    fill(folder / "filler")
                run.write(entry)

            with pytest.raises(InputError) as caught:
                Executor(plan, {"alpha": host}, write, lambda: "now").apply()
        assert "No space left on device" in caught.value.found
        with open_run(folder / "run") as run:
            durable = {e.number for e in run.entries if isinstance(e, Intent)}
        written = {number for number, key in enumerate(start) if host.values[key]}
        assert {0} <= written <= durable < set(range(40))
        (folder / "filler").unlink()
        with open_run(folder / "run") as run:
            Executor(plan, {"alpha": host}, run.write, lambda: "now", run.entries).undo()
        assert host.values == start
    finally:
        subprocess.run(["umount", str(folder)], check=True)  # noqa: S607


def fill(path: Path) -> None:
    """Write until the disk is full, but for the rest of the page that the journal has begun."""
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 512):
                pass
        except OSError:
            return
