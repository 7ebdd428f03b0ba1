"""Runs of several stages through the commands, on described hosts that reboot, from every kill."""

from contextlib import nullcontext
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from described_host import Killed, Put
from rebooting_host import PutAndReboot, RebootingHost, dies_at, use_hosts, write_spec

from wirespeed.apply.run import read_journal
from wirespeed.apply.run_place import run_folder
from wirespeed.approaches.traits import RequestedStep
from wirespeed.commands import plan as plan_command
from wirespeed.commands.apply import apply
from wirespeed.commands.drift import drift
from wirespeed.commands.status import status
from wirespeed.commands.undo import undo
from wirespeed.model.capture import Capture
from wirespeed.model.error import HostError, InputError, LeftChangedError
from wirespeed.model.fact import HostFacts
from wirespeed.model.journal import Begun, Entry, Intent, Staged, Stood, Undone
from wirespeed.runs.run_hosts import REBOOT_DUE

START = {"first": 1, "kept.cmdline": 0, "count": 0}
GOAL = {"first": 10, "kept.cmdline": 5, "count": 2, "vf": 42}
WANTED = [
    RequestedStep(Put(key="first", value=10)),
    RequestedStep(PutAndReboot(key="kept.cmdline", value=5)),
    RequestedStep(Put(key="count", value=2)),
    RequestedStep(Put(key="vf", value=42), is_made=True),
]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    write_spec(tmp_path / "spec.yaml", "alpha")
    return tmp_path / "spec.yaml"


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> RebootingHost:
    host = RebootingHost(dict(START))
    use_hosts(monkeypatch, {"alpha": host}, WANTED)
    return host


def call(command: object, *arguments: object) -> Result:
    done = CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)  # type: ignore[arg-type]
    if isinstance(done.exception, Killed | AssertionError):
        raise done.exception
    return done


def entries(spec: Path) -> list[Entry]:
    return read_journal(run_folder(spec))


class TestStages:
    def test_apply_stops_where_a_reboot_is_due(self, spec: Path, host: RebootingHost):
        done = call(apply, spec, "--yes")
        assert done.return_value == REBOOT_DUE == 4
        assert "after the reboot of alpha (put_and_reboot kept.cmdline)" in done.output
        assert host.values == START | {"first": 10, "kept.cmdline": 5}
        [staged] = [entry for entry in entries(spec) if isinstance(entry, Staged)]
        assert staged.waits == {"alpha": "boot-1"}
        assert call(status, spec).return_value == REBOOT_DUE

    def test_the_next_says_that_the_reboot_has_not_been(self, spec: Path, host: RebootingHost):
        call(apply, spec, "--yes")
        lines = len(entries(spec))
        host.ran = []
        done = call(apply, spec, "--yes")
        assert done.return_value == REBOOT_DUE
        assert "not in force until you reboot alpha" in done.output
        assert (len(entries(spec)), host.ran) == (lines, [])

    def test_after_the_reboot_the_next_goes_on(self, spec: Path, host: RebootingHost):
        call(apply, spec, "--yes")
        host.reboot_now()
        done = call(apply, spec, "--yes")
        assert done.return_value == 0, done.output
        assert host.values == GOAL
        assert "alpha, stage 2: once per boot" in done.output
        assert "  3 put first" in done.output, "stage 1 had two steps; numbers go on"
        assert [len(e.plan.steps) for e in entries(spec) if isinstance(e, Begun)] == [2, 4]
        assert max(e.number for e in entries(spec) if isinstance(e, Intent)) == 5

    def test_with_reboot_it_goes_all_the_way(self, spec: Path, host: RebootingHost):
        done = call(apply, spec, "--yes", "--reboot")
        assert done.return_value == 0, done.output
        assert (host.values, host.boots) == (GOAL, 2)

    def test_one_undo_takes_back_all_stages_last_first(self, spec: Path, host: RebootingHost):
        call(apply, spec, "--yes", "--reboot")
        done = call(undo, spec)
        assert done.return_value == 0, done.output
        assert host.values == START
        undone = [e.number for e in entries(spec) if isinstance(e, Undone)]
        assert undone == [5, 4, 2, 1, 0]
        assert "alpha is as before only after its next boot" in done.output

    def test_a_second_apply_is_a_no_op(self, spec: Path, host: RebootingHost):
        call(apply, spec, "--yes", "--reboot")
        host.ran = []
        done = call(apply, spec, "--yes")
        assert done.return_value == 0, done.output
        assert "0 of 4 steps to do" in done.output
        assert (host.ran, host.boots) == ([], 2)

    def test_what_the_reboot_did_not_keep_is_no_reason_for_another(
        self, spec: Path, host: RebootingHost
    ):
        call(apply, spec, "--yes")
        host.reboot_now()
        host.values["kept.cmdline"] = 0
        error = call(apply, spec, "--yes", "--reboot").exception
        assert isinstance(error, LeftChangedError)
        assert error.what == "stage.not_kept"
        assert host.boots == 2

    def test_an_applied_spec_takes_one_round_trip(self, spec: Path, host: RebootingHost):
        call(apply, spec, "--yes", "--reboot")
        host.trips = 0
        assert call(apply, spec, "--yes").return_value == 0
        assert host.trips == 1, "facts and states together"

    def test_a_host_that_is_lost_between_stages_leaves_a_run_that_says_so(
        self, spec: Path, host: RebootingHost, monkeypatch: pytest.MonkeyPatch
    ):
        call(apply, spec, "--yes")
        host.reboot_now()

        def lost(*_: object) -> None:
            raise HostError("ssh.no_answer", where="alpha", found="no connection within 10 s")

        with monkeypatch.context() as patch:
            patch.setattr(host, "capture", lost)
            error = call(apply, spec, "--yes").exception
        assert isinstance(error, LeftChangedError)
        assert error.what == "run.interrupted"
        assert error.so == (
            "the run is not finished: 2 of 2 steps are in place of this stage, and another follows"
        )
        assert call(apply, spec, "--yes").return_value == 0
        assert host.values == GOAL

    def test_a_plan_goes_on_where_the_run_is(
        self, spec: Path, host: RebootingHost, monkeypatch: pytest.MonkeyPatch
    ):
        facts = {"alpha": HostFacts("alpha", Capture((), complete=True))}
        reading = nullcontext((facts, {"alpha": host}))
        monkeypatch.setattr(plan_command, "readers_of", lambda _: reading)
        first = call(plan_command.plan, spec).output
        assert "alpha, stage 1: once per boot" in first
        call(apply, spec, "--yes")
        waiting = call(plan_command.plan, spec).output
        assert "0 of 2 steps to do\nafter the reboot of alpha" in waiting
        host.reboot_now()
        second = call(plan_command.plan, spec).output
        assert "alpha, stage 2: once per boot\n  3 put first" in second
        assert "3 of 4 steps to do" in second


class TestUntil:
    @pytest.mark.parametrize("name", ["3", "put count", "put count on alpha"])
    def test_it_stops_there_goes_on_and_is_taken_back(
        self, spec: Path, host: RebootingHost, name: str
    ):
        host.values["kept.cmdline"] = 5
        start = dict(host.values)
        done = call(apply, spec, "--yes", "--until", name)
        assert done.return_value == 0, done.output
        assert "stopped where --until says" in done.output
        assert host.values == start | {"first": 10, "count": 2, "vf": 7}
        assert call(status, spec).return_value == 1
        assert call(apply, spec, "--yes").return_value == 0
        assert host.values == GOAL
        assert call(undo, spec).return_value == 0
        assert host.values == start

    @pytest.mark.parametrize("name", ["9", "0", "put nothing", "-1"])
    def test_a_step_that_is_not_there_is_refused(self, spec: Path, host: RebootingHost, name: str):
        host.values["kept.cmdline"] = 5
        error = call(apply, spec, "--yes", f"--until={name}").exception
        assert isinstance(error, InputError)
        assert error.what == "until.unknown"
        assert host.ran == []

    def test_a_step_of_two_hosts_is_to_be_told_apart(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ):
        write_spec(tmp_path / "spec.yaml", "alpha", "beta")
        hosts = {name: RebootingHost({"first": 1}) for name in ("alpha", "beta")}
        use_hosts(monkeypatch, hosts, WANTED[:1])
        error = call(apply, tmp_path / "spec.yaml", "--yes", "--until", "put first").exception
        assert isinstance(error, InputError)
        assert error.what == "until.not_one"
        assert error.found == "it is 1 on alpha, 2 on beta"


class TestAfterAKill:
    """Killed at every entry of a run of two stages, before it is durable and just after."""

    def test_the_next_undo_ends_in_the_start_and_the_next_apply_in_the_goal(
        self, tmp_path: Path, host: RebootingHost, monkeypatch: pytest.MonkeyPatch
    ):
        whole = tmp_path / "whole.yaml"
        write_spec(whole, "alpha")
        call(apply, whole, "--yes", "--reboot")
        lines = len(entries(whole))
        # begun, 2 of intent and result, stood, staged; begun, 3 of them, stood, ended
        assert lines == 1 + 4 + 2 + 1 + 6 + 2
        for number, (at, written, finish) in enumerate(
            product(range(lines), (False, True), (undo, apply))
        ):
            spec = tmp_path / f"{number}.yaml"
            write_spec(spec, "alpha")
            host.values, host.owner = dict(START), ""
            with dies_at(monkeypatch, at, written=written):
                call(apply, spec, "--yes", "--reboot")
            arguments = ("--yes", "--reboot") if finish is apply else ()
            done = call(finish, spec, *arguments)
            assert done.return_value == 0, (at, written, done.output, done.exception)
            assert host.values == (GOAL if finish is apply else START), (at, written)


class TestAHostThatRebootsByItself:
    @pytest.mark.parametrize("after", range(6))  # three steps of two commands
    @pytest.mark.parametrize("finish", [undo, apply])
    def test_the_error_says_how_it_stands_and_the_next_ends_well(
        self, spec: Path, host: RebootingHost, after: int, finish: object
    ):
        host.values["kept.cmdline"] = 5
        start = dict(host.values)
        host.reboots_after = after
        error = call(apply, spec, "--yes").exception
        assert isinstance(error, LeftChangedError)
        assert error.what == "run.interrupted"
        assert f"{after // 2} of 3 steps are in place" in error.so
        assert "wirespeed undo" in error.next
        done = call(finish, spec, *(("--yes",) if finish is apply else ()))
        assert done.return_value == 0, (done.output, done.exception)
        assert host.values == (GOAL if finish is apply else start)
        if finish is apply:
            assert call(undo, spec).return_value == 0
            assert host.values == start

    def test_what_the_reboot_set_back_is_not_called_stale(
        self, spec: Path, monkeypatch: pytest.MonkeyPatch
    ):
        host = RebootingHost({"first": 1, "other": 1})
        host.values["other"] = 6  # by hand, since the boot
        wanted = [
            RequestedStep(Put(key="first", value=10)),
            RequestedStep(Put(key="other", value=9)),
        ]
        use_hosts(monkeypatch, {"alpha": host}, wanted)
        host.reboots_after = 1
        assert isinstance(call(apply, spec, "--yes").exception, LeftChangedError)
        assert host.values == {"first": 1, "other": 1}
        done = call(apply, spec, "--yes")
        assert done.return_value == 0, (done.output, done.exception)
        assert host.values == {"first": 10, "other": 9}
        assert call(undo, spec).return_value == 0
        assert host.values == {"first": 1, "other": 6}, "as the plan had found it"


class TestDrift:
    def test_nobody_touched_it(self, spec: Path, host: RebootingHost):
        call(apply, spec, "--yes", "--reboot")
        host.trips = 0
        done = call(drift, spec)
        assert (done.return_value, host.trips) == (0, 1)
        assert "0 of 4 steps" in done.output

    def test_what_other_hands_did_is_named_as_it_was_left_and_as_it_is(
        self, spec: Path, host: RebootingHost
    ):
        call(apply, spec, "--yes", "--reboot")
        host.values["first"] = 3
        done = call(drift, run_folder(spec))
        assert done.return_value == 1
        assert done.output.splitlines() == [
            "  3 put first on alpha",
            "      left as value 10",
            "      is now  value 3",
            "1 of 4 steps are not as the run left them (applied)",
        ]

    def test_what_cannot_be_read_is_not_called_unchanged(self, spec: Path, host: RebootingHost):
        call(apply, spec, "--yes", "--reboot")
        host.unreadable.add("first")
        done = call(drift, spec)
        assert done.return_value == 1
        assert "not known: permission denied" in done.output

    def test_a_run_that_was_undone_has_nothing_to_drift(self, spec: Path, host: RebootingHost):
        call(apply, spec, "--yes", "--reboot")
        call(undo, spec)
        assert call(drift, spec).return_value == 0

    def test_the_last_reading_counts_and_not_the_step_s_own(self, spec: Path, host: RebootingHost):
        call(apply, spec, "--yes", "--reboot")
        stood = [entry for entry in entries(spec) if isinstance(entry, Stood)][-1]
        assert stood.states == {
            1: {"value": 5}, 2: {"value": 10}, 3: {"value": 5}, 4: {"value": 2}, 5: {"value": 42},
            0: {"value": 10},
        }  # fmt: skip


def test_a_run_s_own_folder_is_enough_to_undo_it(spec: Path, host: RebootingHost):
    call(apply, spec, "--yes", "--reboot")
    spec.unlink()
    done = call(undo, run_folder(spec))
    assert done.return_value == 0, (done.output, done.exception)
    assert host.values == START


def test_a_second_run_is_refused_while_the_first_stands(spec: Path, host: RebootingHost):
    call(apply, spec, "--yes", "--reboot")
    host.values["first"] = 3
    error = call(apply, spec, "--yes").exception
    assert isinstance(error, InputError)
    assert error.what == "run.applied_before"
    assert "wirespeed drift" in error.next
