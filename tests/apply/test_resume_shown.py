"""A run that did not come to its end is shown, asked for and guarded as a new plan is."""

import stat
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from click.testing import CliRunner, Result
from described_host import Put
from other_user import as_other_user, needs_root, open_to_all
from rebooting_host import PutAndReboot, RebootingHost, use_hosts, write_spec

from wirespeed import catalog
from wirespeed.apply.run import JOURNAL
from wirespeed.apply.run_place import run_folder
from wirespeed.approaches.traits import RequestedStep
from wirespeed.commands.apply import apply
from wirespeed.commands.status import status
from wirespeed.commands.undo import undo
from wirespeed.model.error import InputError, LeftChangedError
from wirespeed.model.finding import Danger
from wirespeed.runs.run_hosts import REBOOT_DUE

START = {"one": 1, "two": 2, "three": 3}
GOAL = {"one": 10, "two": 20, "three": 30}


class Burn(Put):
    """It writes firmware."""

    danger: ClassVar[Danger] = Danger.FIRMWARE
    step: Literal["burn"] = "burn"  # type: ignore[assignment]


class Flap(Put):
    """It takes a link down."""

    danger: ClassVar[Danger] = Danger.DROPS_LINK
    step: Literal["flap"] = "flap"  # type: ignore[assignment]


KINDS = {"put": Put, "put_and_reboot": PutAndReboot, "burn": Burn, "flap": Flap}


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    write_spec(tmp_path / "spec.yaml", "alpha")
    return tmp_path / "spec.yaml"


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> RebootingHost:
    return scene(monkeypatch, Put)


def scene(monkeypatch: pytest.MonkeyPatch, last: type[Put]) -> RebootingHost:
    """A host, and a spec that asks for three steps, of which `last` is the third."""
    host = RebootingHost(dict(START))
    kinds = (Put, Put, last)
    steps = [kind(key=k, value=v) for kind, (k, v) in zip(kinds, GOAL.items(), strict=True)]
    use_hosts(monkeypatch, {"alpha": host}, [RequestedStep(step) for step in steps])
    monkeypatch.setattr(catalog, "step_types", lambda: KINDS)
    return host


def call(command: object, *arguments: object, input: str = "") -> Result:
    arguments = tuple(str(a) for a in arguments)
    return CliRunner().invoke(command, arguments, input=input, standalone_mode=False)  # type: ignore[arg-type]


def stopped_after_one(spec: Path, host: RebootingHost, *allowed: str) -> None:
    done = call(apply, spec, "--yes", "--until", "1", *allowed)
    assert (done.return_value, done.exception) == (0, None), done.output
    assert host.values == START | {"one": 10}
    host.ran = []


def test_what_is_still_to_be_done_is_shown_and_asked_for(spec: Path, host: RebootingHost):
    stopped_after_one(spec, host)
    done = call(apply, spec, input="n\n")
    assert done.return_value == 1
    assert "  1 put one: already in place, by the journal" in done.output
    assert "undo  put two 2" in done.output
    assert "2 of 3 steps to do" in done.output
    assert "if a step fails, the 1 steps in place are undone too" in done.output
    assert "Continue? [y/N]" in done.output
    assert host.ran == []
    assert call(status, spec).return_value == 1, "it is as it was: unfinished"


@pytest.mark.parametrize(("arguments", "answer"), [((), "y\n"), (("--yes",), "")])
def test_it_goes_on_when_that_is_answered_or_said_at_once(
    spec: Path, host: RebootingHost, arguments: tuple[str, ...], answer: str
):
    stopped_after_one(spec, host)
    assert call(apply, spec, *arguments, input=answer).return_value == 0
    assert host.values == GOAL


def test_a_step_that_may_be_written_is_named(spec: Path, host: RebootingHost):
    stopped_after_one(spec, host)
    path = run_folder(spec) / JOURNAL
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join(lines[:2]) + b"\n")
    done = call(apply, spec, input="n\n")
    assert "step 1 may be in place already" in done.output
    assert "3 of 3 steps to do" in done.output


def test_what_a_reboot_took_is_shown_as_to_be_done_again(spec: Path, host: RebootingHost):
    stopped_after_one(spec, host)
    host.reboot_now()
    done = call(apply, spec, input="n\n")
    assert "3 of 3 steps to do" in done.output
    assert call(apply, spec, "--yes").return_value == 0
    assert host.values == GOAL


@pytest.mark.parametrize(
    ("last", "why", "allowed"),
    [(Burn, "plan.writes_firmware", "--allow-firmware"), (Flap, "plan.cut", "--allow-cutoff")],
)
def test_every_guard_holds_when_a_run_goes_on(
    spec: Path, monkeypatch: pytest.MonkeyPatch, last: type[Put], why: str, allowed: str
):
    host = scene(monkeypatch, last)
    stopped_after_one(spec, host, "--allow-cutoff", allowed)
    error = call(apply, spec, "--yes").exception
    assert isinstance(error, LeftChangedError), error
    assert error.what == "run.interrupted", "a step stands: exit code 3"
    assert error.found.startswith(why)
    assert "1 of 3 steps are in place" in error.so
    assert host.ran == []
    if last is Burn:
        assert call(apply, spec, "--yes", "--allow-cutoff", allowed).return_value == REBOOT_DUE
        assert host.values == GOAL
    assert call(undo, spec).return_value == 0
    assert host.values == START


@needs_root
@pytest.mark.parametrize("command", [status, apply, undo])
def test_a_planted_journal_is_refused_by_every_command(
    tmp_path: Path, host: RebootingHost, command: object
):
    folder = open_to_all(tmp_path)
    write_spec(folder / "spec.yaml", "alpha")
    write_spec(folder / "own.yaml", "alpha")
    stopped_after_one(folder / "own.yaml", host)
    text = (run_folder(folder / "own.yaml") / JOURNAL).read_bytes()
    planted = folder / "spec.yaml.run"

    def plant() -> None:
        planted.mkdir(mode=0o755)
        (planted / JOURNAL).write_bytes(text)

    as_other_user(plant)
    for arguments in ((), ("--yes",)) if command is apply else ((),):
        error = call(command, folder / "spec.yaml", *arguments).exception
        assert isinstance(error, InputError), error
        assert error.what == "file.untrusted"
        assert "uid 61234" in error.found
    assert host.ran == []


@pytest.mark.parametrize(
    "plant",
    [
        lambda folder, own: folder.symlink_to(own),
        lambda folder, own: (folder.mkdir(), (folder / JOURNAL).symlink_to(own / JOURNAL)),
    ],
    ids=["folder", "journal"],
)
def test_a_planted_link_to_a_journal_of_ours_is_refused(
    tmp_path: Path, host: RebootingHost, plant: Callable[[Path, Path], object]
):
    write_spec(tmp_path / "spec.yaml", "alpha")
    write_spec(tmp_path / "own.yaml", "alpha")
    stopped_after_one(tmp_path / "own.yaml", host)
    own = run_folder(tmp_path / "own.yaml")
    before = (own / JOURNAL).read_bytes()
    plant(tmp_path / "spec.yaml.run", own)
    for command in (status, apply, undo):
        error = call(command, tmp_path / "spec.yaml").exception
        assert isinstance(error, InputError), error
        assert error.what == "file.untrusted"
    assert (host.ran, (own / JOURNAL).read_bytes()) == ([], before)


def test_secrets_in_a_journal_are_for_its_owner_alone(spec: Path, host: RebootingHost):
    stopped_after_one(spec, host)
    folder = run_folder(spec)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert set(modes) >= {JOURNAL, "run.json"}
    assert set(modes.values()) == {0o600}


def test_an_older_run_is_gone_on_with_and_its_secrets_are_closed_to_others(
    spec: Path, host: RebootingHost
):
    stopped_after_one(spec, host)
    older = spec.with_name("spec.yaml.run")
    run_folder(spec).rename(older) if run_folder(spec) != older else None
    older.chmod(0o755)
    (older / JOURNAL).chmod(0o644)
    assert call(apply, spec, "--yes").return_value == 0
    assert host.values == GOAL
    assert stat.S_IMODE(older.stat().st_mode) == 0o700
    assert stat.S_IMODE((older / JOURNAL).stat().st_mode) == 0o600
