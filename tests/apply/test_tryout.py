"""A host takes back a whole run by itself unless it is confirmed: this machine's own shell."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from claims import claim, owner
from note_step import NASTY, Failing, Note

from wirespeed import catalog
from wirespeed.apply import control_script, guard_timer, tryout_script
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import Run, open_run
from wirespeed.apply.tryout_script import Tryout
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.local import LocalRunner
from wirespeed.model.error import ApplyError, InputError
from wirespeed.model.journal import StepProgress, progress
from wirespeed.model.plan import Plan
from wirespeed.runs import tryout
from wirespeed.runs.keep_run import keep, refuse_gone
from wirespeed.runs.run_hosts import apply_plan, lock_hosts, undo_plan

SOON_S, LONG_S = 2, 600
FAKE_SYSTEMCTL = """#!/bin/sh
echo "$*" >>{log}
"""


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(catalog, "step_types", lambda: {"note": Note, "failing": Failing})
    monkeypatch.setattr(control_script, "LOCK", str(tmp_path / "lock"))
    monkeypatch.setattr(guard_timer, "FOLDER", str(tmp_path / "timers"))
    monkeypatch.setattr(tryout_script, "FOLDER", str(tmp_path / "try"))
    monkeypatch.setattr(tryout_script, "UNITS", str(tmp_path / "units"))
    monkeypatch.setattr(tryout_script, "SYSTEMD", str(tmp_path / "no-systemd"))
    (tmp_path / "old").write_text("before\n")
    yield tmp_path
    for sleeper in tmp_path.glob("try/*/sleeper"):
        LocalRunner().run(["kill", "-s", "TERM", "--", f"-{sleeper.read_text().strip()}"])


@pytest.fixture
def controls() -> dict[str, PosixControl]:
    return {name: PosixControl(name, LocalRunner()) for name in ("alpha", "beta")}


def plan_for(host: Path, controls: dict[str, PosixControl]) -> Plan:
    """Two steps on alpha, the second of which changes what the first made; one on beta."""
    steps = [
        ("alpha", Note(path=str(host / "old"), text=NASTY)),
        ("alpha", Note(path=str(host / "new"), text="x")),
        ("beta", Note(path=str(host / "beta"), text="y")),
    ]
    return make_plan((at, step, controls[at].read([step])[0]) for at, step in steps)


def stands(host: Path) -> bool:
    return (host / "new").exists() and (host / "old").read_text() == NASTY + "\n"


def is_as_before(host: Path) -> bool:
    made = [host / name for name in ("new", "beta")]
    return (host / "old").read_text() == "before\n" and not any(path.exists() for path in made)


def await_before(host: Path) -> None:
    deadline = Deadline(20)
    while not is_as_before(host):
        assert not deadline.expired
        sleep_s(0.1)


def applied(run: Run, host: Path, controls: dict[str, PosixControl], seconds: int) -> Plan:
    plan = plan_for(host, controls)
    assert apply_plan(run, plan, controls, try_s=seconds) == "ended"
    assert stands(host) and run.outcome == "unconfirmed"
    return plan


def sleepers(host: Path) -> list[str]:
    listed = LocalRunner().run(["ps", "-eww", "-o", "args"])
    return [line for line in listed.output.splitlines() if str(host / "try") in line]


def test_a_run_that_nobody_confirms_is_taken_back_by_its_hosts(
    host: Path, controls: dict[str, PosixControl]
):
    with open_run(host / "run") as run:
        applied(run, host, controls, SOON_S)
    await_before(host)


def test_a_run_that_is_confirmed_stays_and_leaves_nothing_on_its_hosts(
    host: Path, controls: dict[str, PosixControl]
):
    with open_run(host / "run") as run:
        plan = applied(run, host, controls, LONG_S)
        keep(run, plan, controls, "spec")
        assert run.outcome == "applied"
    assert stands(host)
    assert list((host / "try").iterdir()) == [] and sleepers(host) == []


def test_confirmed_too_late_all_hosts_are_taken_back_and_the_journal_says_so(
    host: Path, controls: dict[str, PosixControl]
):
    with open_run(host / "run") as run:
        plan = applied(run, host, controls, LONG_S)
        folder = host / "try" / run.id
        LocalRunner().run(["sh", str(folder / "undo")])
        assert is_as_before(host)
        (host / "beta").write_text("y\n")  # As if beta had its own disk, and waited yet.
        with pytest.raises(ApplyError) as caught:
            keep(run, plan, controls, "spec")
        assert caught.value.what == "try.went_back" and "alpha" in caught.value.where
        assert run.outcome == "undone"
        assert set(progress(plan, run.entries)) == {StepProgress.UNDONE}
    assert is_as_before(host) and not folder.exists()


def test_the_next_apply_learns_that_a_host_took_it_back(
    host: Path, controls: dict[str, PosixControl]
):
    with open_run(host / "run") as run:
        plan = applied(run, host, controls, LONG_S)
        refuse_gone(run, plan, controls, "spec")
        assert stands(host) and run.outcome == "unconfirmed"
        LocalRunner().run(["sh", str(host / "try" / run.id / "undo")])
        with pytest.raises(ApplyError, match=r"try\.went_back"):
            refuse_gone(run, plan, controls, "spec")
        assert run.outcome == "undone"


def test_each_step_has_the_timer_count_afresh(
    host: Path, controls: dict[str, PosixControl], monkeypatch: pytest.MonkeyPatch
):
    plan = plan_for(host, controls)
    change = PosixControl.change

    def slowly(self: PosixControl, *args: object) -> object:
        done = change(self, *args)  # type: ignore[arg-type]
        sleep_s(2)
        return done

    monkeypatch.setattr(PosixControl, "change", slowly)
    with open_run(host / "run") as run:
        apply_plan(run, plan, controls, try_s=4)
        assert stands(host), "three steps took longer than the time that each has"
        keep(run, plan, controls, "spec")


def test_a_controller_that_dies_in_the_midst_leaves_a_host_that_goes_back(
    host: Path, controls: dict[str, PosixControl]
):
    plan = plan_for(host, controls)
    with open_run(host / "run") as run:
        write, count = run.write, 0

        def die(entry: object) -> None:
            nonlocal count
            count += 1
            if count == 4:
                raise KeyboardInterrupt
            write(entry)  # type: ignore[arg-type]

        run.write = die  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            apply_plan(run, plan, controls, try_s=SOON_S)
    assert (host / "old").read_text() == NASTY + "\n"
    await_before(host)
    with open_run(host / "run") as run, pytest.raises(ApplyError) as caught:
        apply_plan(run, plan, controls, try_s=SOON_S)
    assert caught.value.what == "try.went_back"
    assert is_as_before(host)


def test_a_controller_that_dies_before_its_first_line_is_no_obstacle_to_the_next(
    host: Path, controls: dict[str, PosixControl]
):
    """The timers ran off and took nothing back, for nothing was done."""
    plan = plan_for(host, controls)
    with open_run(host / "run") as run:

        def die(_: object) -> None:
            raise KeyboardInterrupt

        run.write = die  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            apply_plan(run, plan, controls, try_s=LONG_S)
        LocalRunner().run(["sh", str(host / "try" / run.id / "undo")])
    with open_run(host / "run") as run:
        applied(run, host, controls, LONG_S)
        undo_plan(run, plan, controls, "spec")
    assert is_as_before(host) and sleepers(host) == []


def test_undo_ends_the_timer_first(host: Path, controls: dict[str, PosixControl]):
    with open_run(host / "run") as run:
        plan = applied(run, host, controls, LONG_S)
        undo_plan(run, plan, controls, "spec")
    assert is_as_before(host) and sleepers(host) == []
    assert list((host / "try").iterdir()) == []


def test_a_step_that_fails_is_put_back_and_no_timer_stays(
    host: Path, controls: dict[str, PosixControl]
):
    step = Failing(path=str(host / "new"), text="x")
    plan = make_plan([("alpha", step, controls["alpha"].read([step])[0])])
    with open_run(host / "run") as run, pytest.raises(ApplyError, match=r"step\.failed"):
        apply_plan(run, plan, controls, try_s=LONG_S)
    assert sleepers(host) == [] and list((host / "try").iterdir()) == []


def test_an_undo_that_cannot_be_kept_lets_nothing_be_changed(
    host: Path, controls: dict[str, PosixControl], monkeypatch: pytest.MonkeyPatch
):
    plan = plan_for(host, controls)
    start = tryout.start

    def then_lose_it(run: Run, *args: object) -> None:
        start(run, *args)  # type: ignore[arg-type]
        steps = host / "try" / run.id / "steps"
        steps.rmdir()
        steps.write_text("in the way")

    monkeypatch.setattr(tryout, "start", then_lose_it)
    with open_run(host / "run") as run, pytest.raises(ApplyError) as caught:
        apply_plan(run, plan, controls, try_s=LONG_S)
    assert "its undo is not kept on the host" in caught.value.found
    assert is_as_before(host)


def test_another_run_does_not_get_a_host_whose_run_is_not_confirmed(
    host: Path, controls: dict[str, PosixControl]
):
    with open_run(host / "run") as run:
        plan = applied(run, host, controls, LONG_S)
        with pytest.raises(InputError, match=f"1 armed step of run {run.id}"):
            controls["alpha"].lock(claim())
        undo_plan(run, plan, controls, "spec")
    controls["alpha"].lock(claim())


def test_the_timer_waits_for_a_change_and_goes_away_when_that_had_it_count_afresh(
    host: Path, controls: dict[str, PosixControl]
):
    with open_run(host / "run") as run, lock_hosts(run, controls):
        hand = controls["alpha"]
        mine = owner("a")
        hand._run = mine.run
        assert hand.start_tryout(mine, LONG_S) == ""
        undo = host / "try" / mine.run / "undo"
        asleep = subprocess.Popen(["/bin/sleep", "3"], stdin=subprocess.DEVNULL)
        (host / "lock/change").write_text(f"{asleep.pid}\n")
        late = subprocess.Popen(["/bin/sh", str(undo)], stdin=subprocess.DEVNULL)
        sleep_s(1)
        assert hand.ask_tryout() == (Tryout.WAITING, "")
        assert asleep.wait(10) == late.wait(10) == 0
        assert not (undo.parent / "taken").exists()
        assert hand.end_tryout() == (Tryout.CONFIRMED, "", "")
        assert hand.end_tryout() == (Tryout.GONE, "", "")


def test_where_systemd_runs_the_timer_is_a_unit_that_is_enabled(
    host: Path, controls: dict[str, PosixControl], monkeypatch: pytest.MonkeyPatch
):
    """A fake systemctl tells what it was asked; a real one: tests/lab/test_legacy_tryout.py."""
    log, program = host / "log", host / "bin/systemctl"
    program.parent.mkdir()
    program.write_text(FAKE_SYSTEMCTL.format(log=log))
    program.chmod(0o755)
    (host / "units").mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(tryout_script, "SYSTEMD", str(host))
    with open_run(host / "run") as run:
        plan = applied(run, host, controls, LONG_S)
        unit = f"wirespeed-try-{run.id}"
        timer = (host / f"units/{unit}.timer").read_text()
        assert "OnActiveSec=600\n" in timer and "StartLimitIntervalSec=0\n" in timer
        assert "WantedBy=timers.target" in timer
        asked = log.read_text().splitlines()
        assert asked[:3] == [
            "daemon-reload",
            f"--quiet enable {unit}.timer",
            f"restart {unit}.timer",
        ]
        assert (
            f"ExecStart=/bin/sh {host}/try/{run.id}/undo"
            in (host / f"units/{unit}.service").read_text()
        )
        keep(run, plan, controls, "spec")
    assert list((host / "units").iterdir()) == [] and sleepers(host) == []
    assert f"--quiet disable {unit}.timer" in log.read_text()


FAKE_SYNC = """#!/bin/sh
for path; do
	case $path in --) continue ;; esac
	[ -e "$path" ] || exit 1
	echo "$path"
done >>{log}
[ $# -gt 0 ] || echo all >>{log}
"""


def test_what_a_host_goes_back_by_is_on_its_disk_before_it_gets_its_name(
    host: Path, controls: dict[str, PosixControl], monkeypatch: pytest.MonkeyPatch
):
    """As the power may fail at any moment; for real: tests/lab/test_legacy_tryout.py."""
    log, program = host / "log", host / "bin/sync"
    program.parent.mkdir()
    program.write_text(FAKE_SYNC.format(log=log))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    with open_run(host / "run") as run:
        plan = applied(run, host, controls, LONG_S)
        folder = host / "try" / run.id
        synced = log.read_text().splitlines()
        names = ("undo", "seconds", "about", *(f"steps/{p.name}" for p in folder.glob("steps/*")))
        assert len(names) == 6
        for path in (folder / name for name in names):
            draft = str(path.with_name(f".{path.name}"))
            assert str(path.parent) in synced[synced.index(draft) :], path
        assert list(folder.rglob(".*")) == [], "a draft has a name beside its own"
        log.write_text("")
        keep(run, plan, controls, "spec")
    kept = f"{folder}/claim.us"
    assert log.read_text().splitlines()[:3] == [f"{kept}/us", kept, str(folder)]


@pytest.mark.parametrize("left", ["taken/us", "result"])
def test_a_failure_of_the_power_that_brings_back_what_was_over_has_nothing_undone(
    host: Path, controls: dict[str, PosixControl], left: str
):
    """The word of it is on the disk; that its units and its folder were removed may be lost."""
    with open_run(host / "run") as run:
        applied(run, host, controls, LONG_S)
        folder = host / "try" / run.id
        LocalRunner().run(
            ["kill", "-s", "TERM", "--", f"-{(folder / 'sleeper').read_text().strip()}"]
        )
        (folder / "taken").mkdir()
        (folder / left).write_text("undone\n")
        LocalRunner().run(["sh", str(folder / "undo")])
        assert stands(host)
        assert folder.exists() == (left == "result"), "what it says is asked for yet"


def test_what_is_left_of_a_timer_is_told_of(
    host: Path,
    controls: dict[str, PosixControl],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    program = host / "bin/rm"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\n[ "$1" != -rf ] || { echo "rm: $2: bad disk" >&2; exit 1; }\n')
    program.chmod(0o755)
    with open_run(host / "run") as run:
        plan = applied(run, host, controls, LONG_S)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        keep(run, plan, controls, "spec")
        assert f"could not be removed: rm: {host}/try/{run.id}: bad disk" in capsys.readouterr().err


def test_who_confirms_after_a_reboot_is_told_that_a_boot_forgets(
    host: Path,
    controls: dict[str, PosixControl],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    with open_run(host / "run") as run:
        plan = applied(run, host, controls, LONG_S)
        take = controls["alpha"].lock

        def take_after_a_reboot(claim: object) -> str:
            take(claim)  # type: ignore[arg-type]
            return "another boot"

        monkeypatch.setattr(controls["alpha"], "lock", take_after_a_reboot)
        keep(run, plan, controls, "spec")
    said = capsys.readouterr().err
    assert "alpha: rebooted since," in said and "wirespeed drift spec" in said


def test_an_undo_that_a_reboot_ended_begins_afresh(host: Path, controls: dict[str, PosixControl]):
    with open_run(host / "run") as run:
        applied(run, host, controls, LONG_S)
        taken_by_host = host / "try" / run.id / "taken"
        taken_by_host.mkdir()
        (taken_by_host / "host").touch()
        LocalRunner().run(["sh", str(taken_by_host.parent / "undo")])
    assert is_as_before(host)


def test_a_run_begun_without_it_is_not_tried_later(host: Path, controls: dict[str, PosixControl]):
    with open_run(host / "run") as run:
        apply_plan(run, plan_for(host, controls), controls, until=0)
        with pytest.raises(InputError, match=r"try\.begun_without"):
            tryout.refuse_begun_without(run, LONG_S)
