"""`plan`, `apply`, `undo` and `status` where there is no host to ask: what they refuse, and why."""

import json
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import JOURNAL, open_run, read_journal
from wirespeed.apply.run_place import run_folder
from wirespeed.commands.apply import apply
from wirespeed.commands.drift import drift
from wirespeed.commands.plan import plan
from wirespeed.commands.status import status
from wirespeed.commands.undo import undo
from wirespeed.model.error import InputError, LeftChangedError
from wirespeed.model.journal import Begun, Ended, Intent, Verified
from wirespeed.model.journal import Result as StepResult
from wirespeed.model.observed import Known
from wirespeed.steps.mtu import Mtu

PLAN = make_plan([("alpha", Mtu(netdev="eth0", mtu=9000), Known({"mtu": 1500}, "cat"))])
BEGUN = Begun(at="2026-01-01T00:00:00Z", plan=PLAN)
INTENT = Intent(number=0, before={"mtu": 1500}, undo=PLAN.steps[0].undo)
DONE = StepResult(number=0, verdict=Verified.VERIFIED, now={"mtu": 9000})
APPLIED = Ended(at="2026-01-01T00:00:01Z", outcome="applied")


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return tmp_path / "spec.yaml"


def call(command: object, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)  # type: ignore[arg-type]


def journal(spec: Path, *entries: Begun | Intent | StepResult | Ended) -> None:
    folder = run_folder(spec)
    folder.mkdir(mode=0o700, parents=True)
    lines = "".join(f"{entry.model_dump_json()}\n" for entry in entries)
    (folder / JOURNAL).write_text(lines)


@pytest.mark.parametrize("command", [plan, apply])
def test_a_spec_that_is_not_there_is_refused(command: object, spec: Path):
    error = call(command, spec).exception
    assert isinstance(error, InputError)
    assert error.what == "file.unreadable"
    assert not run_folder(spec).exists() or command is apply


@pytest.mark.parametrize("command", [status, undo, drift])
def test_a_run_that_is_not_there_is_refused(command: object, spec: Path):
    spec.write_text(json.dumps({}))
    error = call(command, spec).exception
    assert isinstance(error, InputError)
    assert error.what == "run.missing"


def test_a_spec_with_a_recorded_host_is_not_applied(spec: Path, tmp_path: Path):
    (tmp_path / "alpha.txt").write_text("wirespeed-capture 1 case\ncase done\n")
    hosts = {"alpha": {"reach": str(tmp_path / "alpha.txt"), "ports": ["0000:03:00.0"]}}
    rest = {"approach": "legacy-vlan", "failover": "none", "networks": {}, "guests": {}}
    underlay = {"subnet": "192.168.9.0/24", "mtu": 9000}
    spec.write_text(json.dumps({"hosts": hosts, "underlay": underlay, **rest}))
    error = call(apply, spec).exception
    assert isinstance(error, InputError)
    assert error.what == "spec.not_a_host"


@pytest.mark.parametrize(
    ("entries", "code", "said"),
    [
        ((), 0, "nothing was started"),
        ((BEGUN,), 1, "unfinished: 0 of 1 steps are in place"),
        ((BEGUN, INTENT), 1, "maybe written"),
        ((BEGUN, INTENT, DONE), 1, "unfinished: 1 of 1 steps are in place"),
        ((BEGUN, INTENT, DONE, APPLIED), 0, "applied: 1 of 1 steps are in place"),
        (
            (BEGUN, INTENT, APPLIED.model_copy(update={"outcome": "left changed"})),
            3,
            "left changed",
        ),
    ],
)
def test_status_tells_from_the_journal_how_far_it_came(
    spec: Path, entries: tuple[Begun | Intent | StepResult | Ended, ...], code: int, said: str
):
    journal(spec, *entries)
    done = call(status, spec)
    assert done.return_value == code
    assert said in done.output


def test_a_run_of_another_spec_is_not_undone(spec: Path):
    journal(spec, BEGUN, INTENT)
    rest = {"approach": "legacy-vlan", "failover": "none", "networks": {}, "guests": {}}
    hosts = {"beta": {"reach": "here", "ports": ["0000:03:00.0"]}}
    underlay = {"subnet": "192.168.9.0/24", "mtu": 9000}
    spec.write_text(json.dumps({"hosts": hosts, "underlay": underlay, **rest}))
    error = call(undo, spec).exception
    assert isinstance(error, InputError)
    assert error.what == "run.of_another_spec"
    assert "alpha" in error.found


def test_a_line_that_a_kill_tore_is_no_entry(spec: Path):
    journal(spec, BEGUN, INTENT)
    path = run_folder(spec) / JOURNAL
    whole = path.read_text()
    path.write_text(whole[:-20])
    assert [entry.kind for entry in read_journal(run_folder(spec))] == ["begun"]
    with open_run(run_folder(spec)) as run:
        assert run.outcome == "unfinished"
        run.write(INTENT)
    assert read_journal(run_folder(spec)) == [BEGUN, INTENT]
    torn = path.with_name(f"{JOURNAL}.torn-1").read_text()
    assert torn == whole[:-20].split("\n")[-1]


def test_a_file_that_is_no_journal_is_refused(spec: Path):
    journal(spec)
    (run_folder(spec) / JOURNAL).write_text('{"kind":"story"}\n')
    error = call(status, spec).exception
    assert isinstance(error, LeftChangedError)
    assert error.what == "run.not_a_journal"


def test_two_cannot_write_to_one_run(spec: Path):
    with ExitStack() as stack:
        stack.enter_context(open_run(run_folder(spec)))
        with pytest.raises(InputError) as caught:
            stack.enter_context(open_run(run_folder(spec)))
    assert caught.value.what == "run.in_use"
