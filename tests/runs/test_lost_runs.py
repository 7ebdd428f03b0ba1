"""The run folder was removed, and its run is in force: no command believes the folder."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from described_host import Put
from rebooting_host import RebootingHost, use_hosts, write_spec

from wirespeed.apply.run_place import run_folder
from wirespeed.approaches.traits import RequestedStep
from wirespeed.commands.apply import apply
from wirespeed.commands.drift import drift
from wirespeed.commands.undo import undo
from wirespeed.model.error import HostError, LeftChangedError, WirespeedError

START, GOAL = {"one": 1, "two": 2}, {"one": 10, "two": 20}
HOST = "ssh://root@alpha.example"


@pytest.fixture(name="host")
def _host(monkeypatch: pytest.MonkeyPatch) -> RebootingHost:
    host = RebootingHost(dict(START))
    wanted = [RequestedStep(Put(key=key, value=value)) for key, value in GOAL.items()]
    use_hosts(monkeypatch, {"alpha": host}, wanted)
    return host


@pytest.fixture(name="spec")
def _spec(tmp_path: Path, host: RebootingHost) -> Path:
    """Of a run that is applied, whose folder was removed; an empty one stands in its place."""
    spec = tmp_path / "spec.yaml"
    write_spec(spec, "alpha")
    assert call(apply, spec, "--yes").return_value == 0
    assert host.values == GOAL
    shutil.rmtree(run_folder(spec))
    return spec


def call(command: object, *arguments: object) -> Result:
    done = CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)  # type: ignore[arg-type]
    if done.exception is not None and not isinstance(done.exception, WirespeedError):
        raise done.exception
    return done


def lost(done: Result) -> str:
    error = done.exception
    assert isinstance(error, LeftChangedError) and error.exit_code == 3, done.output
    assert error.what == "run.lost"
    return error.next


@pytest.mark.parametrize("values", [GOAL, START, {"one": 10, "two": 2}])
def test_apply_does_not_build_on_a_run_whose_folder_is_lost(
    spec: Path, host: RebootingHost, values: dict[str, int]
):
    host.values, host.ran = dict(values), []
    (name,) = host.disk
    then = lost(call(apply, spec, "--yes"))
    assert f"wirespeed undo here --only {name.partition('-')[0]}" in then
    assert (host.values, host.ran) == (values, [])


def test_undo_and_drift_of_an_empty_folder_ask_the_host(spec: Path, host: RebootingHost):
    call(apply, spec, "--yes")
    for command in (undo, drift):
        lost(call(command, spec))
    assert host.values == GOAL
    # As is printed.
    assert call(undo, HOST, "--yes").return_value == 0
    assert host.values == START
    for command in (undo, drift):
        assert call(command, spec).return_value == 0
    assert call(apply, spec, "--yes").return_value == 0
    assert call(undo, spec).return_value == 0 and host.values == START


def test_an_empty_folder_says_nothing_where_the_host_cannot_be_asked(
    spec: Path, monkeypatch: pytest.MonkeyPatch
):
    call(apply, spec, "--yes")

    def host_runs(_: RebootingHost) -> object:
        raise HostError("ssh.lost", where="alpha", found="it is down")

    monkeypatch.setattr(RebootingHost, "host_runs", host_runs)
    for command in (undo, drift):
        assert isinstance(call(command, spec).exception, HostError)


def test_a_run_that_is_undone_is_undone_where_a_host_cannot_be_asked(
    spec: Path, host: RebootingHost, monkeypatch: pytest.MonkeyPatch
):
    host.disk, host.values = {}, dict(START)
    assert call(apply, spec, "--yes").return_value == 0

    def host_runs(_: RebootingHost) -> object:
        raise HostError("ssh.lost", where="alpha", found="it is down")

    monkeypatch.setattr(RebootingHost, "host_runs", host_runs)
    assert call(undo, spec).return_value == 0 and host.values == START
    assert "alpha was not asked for other runs: it is down" in call(undo, spec).output


def test_runs_of_another_folder_or_machine_are_not_lost_here(spec: Path, host: RebootingHost):
    (stored,) = host.disk.values()
    about = stored.about
    for was, now in (("folder=", "folder=/elsewhere"), ("machine=", "machine=" + "0" * 32 + "x")):
        assert was in about
        stored.about = about.replace(was, now)
        assert call(apply, spec, "--yes").return_value == 0, was
        assert call(undo, spec).return_value == 0, was
