"""A comparison that was killed: nothing is built upon what it left, and undo finds its way back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wirespeed.apply.claim import Claim
from wirespeed.apply.control import Changed
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import JOURNAL, open_run, read_journal
from wirespeed.apply.run_place import run_folder
from wirespeed.commands import undo as undo_module
from wirespeed.commands.compare import compare
from wirespeed.commands.undo import undo
from wirespeed.model.command import Command
from wirespeed.model.error import InputError
from wirespeed.model.journal import Begun, Ended, Entry, Intent, Verified, outcome
from wirespeed.model.journal import Result as StepResult
from wirespeed.model.observed import Known, Observed
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spec.spec import Spec
from wirespeed.model.step import State, Step
from wirespeed.runs import undo_run
from wirespeed.runs.compare_folder import standing_runs
from wirespeed.steps.mtu import Mtu

SPEC = {
    "hosts": {"alpha": {"reach": "ssh://alpha.invalid", "ports": ["0000:01:00.0", "0000:02:00.0"]}},
    "approach": "legacy-vlan",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {"storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000}},
    "guests": {"ceph-1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"}},
}
STEP = Mtu(netdev="eth0", mtu=9000)
PLAN = make_plan([("alpha", STEP, Known({"mtu": 1500}, "cat"))])
KILLED: dict[str, tuple[Entry, ...]] = {
    "before the write": (Intent(number=0, before={"mtu": 1500}, undo=PLAN.steps[0].undo),),
    "after the write": (
        Intent(number=0, before={"mtu": 1500}, undo=PLAN.steps[0].undo),
        StepResult(number=0, verdict=Verified.VERIFIED, now={"mtu": 9000}),
    ),
    "while it measured": (
        Intent(number=0, before={"mtu": 1500}, undo=PLAN.steps[0].undo),
        StepResult(number=0, verdict=Verified.VERIFIED, now={"mtu": 9000}),
        Ended(at="2026-01-01T00:00:01Z", outcome="applied"),
    ),
}


class DescribedHost:
    """A host with one netdev, by hand: it knows the one command that changes its MTU."""

    def __init__(self, mtu: int) -> None:
        self.mtu = mtu
        self.taken: list[str] = []

    def lock(self, claim: Claim) -> str:
        self.taken.append(claim.owner.folder)
        return "boot-1"

    def unlock(self, claim: Claim) -> None:
        assert self.taken[-1] == claim.owner.folder

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        assert all(step == STEP for step in steps)
        return [Known({"mtu": self.mtu}, "cat") for _ in steps]

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        assert now in (None, {"mtu": self.mtu})
        for command in commands:
            assert command.argv[:6] == ("ip", "link", "set", "dev", "eth0", "mtu"), command
            self.mtu = int(command.argv[6])
        return Changed("", self.read([step])[0])


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(json.dumps(SPEC))
    return path


def left(folder: Path, *entries: Entry) -> Path:
    """What a killed one leaves in the folder of a run."""
    folder.mkdir(parents=True)
    spec = read_spec_data(SPEC)
    begun = Begun(at="2026-01-01T00:00:00Z", plan=PLAN, spec=spec)
    text = "".join(entry.model_dump_json() + "\n" for entry in (begun, *entries))
    (folder / JOURNAL).write_text(text)
    return folder


def called(command: object, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)  # type: ignore[arg-type]


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> DescribedHost:
    described = DescribedHost(9000)

    @contextmanager
    def controls_of(_: Spec) -> Iterator[Mapping[str, DescribedHost]]:
        yield {"alpha": described}

    for module in (undo_module, undo_run):
        monkeypatch.setattr(module, "controls_of", controls_of)
    return described


@pytest.mark.parametrize("when", KILLED)
@pytest.mark.parametrize("approach", ["legacy-vlan", "ovs-tc", "ovs-dpdk"])
def test_undo_of_the_spec_takes_back_what_a_killed_comparison_left(
    spec: Path, host: DescribedHost, when: str, approach: str
):
    folder = left(spec.with_name("spec.yaml.compare") / approach, *KILLED[when])
    if when == "before the write":
        host.mtu = 1500
    result = called(undo, spec)
    assert result.exception is None, result.output
    assert f"{folder}: a comparison left it" in result.output
    assert host.mtu == 1500
    assert outcome(read_journal(folder)) == "undone"
    assert standing_runs(folder.parent) == []


def test_a_comparison_that_left_nothing_hides_no_run_of_the_spec_itself(
    spec: Path, host: DescribedHost
):
    left(spec.with_name("spec.yaml.compare") / "ovs-tc", Ended(at="now", outcome="undone"))
    own = left(run_folder(spec), *KILLED["while it measured"])
    assert called(undo, spec).exception is None
    assert host.taken == [str(own.resolve())]


def test_both_are_taken_back_where_both_stand(spec: Path, host: DescribedHost):
    of_compare = left(spec.with_name("spec.yaml.compare") / "ovs-tc", *KILLED["while it measured"])
    own = left(run_folder(spec), *KILLED["while it measured"])
    assert called(undo, spec).exception is None
    assert host.taken == [str(of_compare.resolve()), str(own.resolve())]


@pytest.mark.parametrize("where", ["spec.yaml.compare/ovs-tc", "spec.yaml.run"])
def test_nothing_is_compared_while_a_run_stands(spec: Path, where: str):
    standing = left(spec.parent / where, *KILLED["after the write"])
    error = called(compare, spec, "--yes", "--approaches", "legacy-vlan,ovs-tc").exception
    assert isinstance(error, InputError)
    assert (error.what, error.where) == ("run.applied_before", str(standing))
    assert error.next == f"run `wirespeed undo {spec}`, then compare again"
    assert not (spec.with_name("spec.yaml.compare") / "legacy-vlan").exists()


def test_where_it_has_a_folder_of_its_own_the_way_back_names_it(spec: Path, tmp_path: Path):
    standing = left(tmp_path / "mine" / "ovs-tc", *KILLED["after the write"])
    error = called(compare, spec, "--yes", "--out", tmp_path / "mine").exception
    assert isinstance(error, InputError)
    assert error.next == f"run `wirespeed undo {standing}`, then compare again"


def test_a_comparison_that_still_runs_is_not_undone(spec: Path, host: DescribedHost):
    folder = left(spec.with_name("spec.yaml.compare") / "ovs-tc", *KILLED["after the write"])
    with open_run(folder):
        error = called(undo, spec).exception
    assert isinstance(error, InputError)
    assert error.what == "run.in_use"
    assert host.taken == []
