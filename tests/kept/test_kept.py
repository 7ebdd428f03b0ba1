"""What former versions wrote is read, and what they applied is undone.

Each folder holds files as wirespeed 0.1.0 wrote them on 2026-11-22, before a journal's lines had
checksums and runs had ids: `legacy-vlan` and `proof` on the lab's virtual hosts, the others on
described ones. They are never made again by newer code.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from test_ovs_dpdk_connectx import begin as dpdk_run
from whole_plan import Run

from wirespeed.apply.run import read_journal
from wirespeed.catalog import read_step
from wirespeed.commands.report import report
from wirespeed.commands.status import status
from wirespeed.model.journal import Begun, Intent, StepProgress, outcome, progress, whole_plan
from wirespeed.model.plan import Plan, PlannedStep
from wirespeed.model.proof import Stage
from wirespeed.model.spec.members import Esxi, HostsOnly, Wsl2
from wirespeed.runs.prove_folder import read_proof

KEPT = Path(__file__).parent
JOURNALS = sorted(path.parent.name for path in KEPT.glob("*/journal.jsonl"))
HOSTS = {
    "esxi": {"vmhost", "vmhost-api"},
    "legacy-vlan": {"alpha", "beta"},
    "link": {"switch+dell_os6://admin@sw1/Te1/0/1", "ssh://root@alpha"},
    "ovs-dpdk": {"alpha", "beta"},
    "ovs-tc": {"alpha", "beta"},
    "remedy-windows": {"desk"},
    "wsl2": {"desk", "desk.windows"},
}


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Give a copy as it stood on disk then: 0755, its files 0644."""
    copy = tmp_path / "spec.yaml.run"
    shutil.copytree(KEPT / request.param, copy)
    for path in (copy, *copy.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return copy


def test_there_is_a_journal_of_every_approach_and_of_both_commands_without_a_spec():
    assert set(JOURNALS) - {"proof"} == set(HOSTS)


@pytest.mark.parametrize("folder", JOURNALS, indirect=True)
def test_a_kept_journal_is_read_and_its_undo_is_the_one_that_was_promised(folder: Path):
    entries = read_journal(folder)
    plan = whole_plan(entries)
    assert plan is not None
    came = progress(plan, entries)
    assert StepProgress.DONE in came or StepProgress.UNDONE in came
    intents = [entry for entry in entries if isinstance(entry, Intent)]
    assert intents
    for intent in intents:
        planned = plan.steps[intent.number]
        goal = planned.goal if intent.goal is None else intent.goal
        assert read_step(planned.step).change(goal, intent.before) == intent.undo


@pytest.mark.parametrize("folder", JOURNALS, indirect=True)
def test_a_kept_run_has_its_status(folder: Path):
    name = next(name for name in JOURNALS if (KEPT / name / "journal.jsonl").read_bytes()
                == (folder / "journal.jsonl").read_bytes())  # fmt: skip
    done = CliRunner().invoke(status, [str(folder)], standalone_mode=False)
    assert done.exception is None, done.output
    assert done.return_value == 0
    entries = read_journal(folder)
    assert outcome(entries) == ("undone" if name == "proof" else "applied")
    plan = whole_plan(entries)
    assert plan is not None
    if name in HOSTS:
        assert {step.host for step in plan.steps} == HOSTS[name]


@pytest.mark.parametrize("folder", ["remedy-windows", "esxi", "wsl2"], indirect=True)
def test_a_spec_of_a_former_version_is_that_of_its_approach_now(folder: Path):
    """It had every field of every approach, and hosts alone were a legacy-vlan without networks."""
    text = (folder / "journal.jsonl").read_text()
    (begun, *_) = [entry for entry in read_journal(folder) if isinstance(entry, Begun)]
    if '"approach":"wsl2"' in text:
        assert isinstance(begun.spec, Wsl2) and begun.spec.underlay.mtu == 9000
    elif '"approach":"esxi"' in text:
        assert isinstance(begun.spec, Esxi) and begun.spec.esxi.parameters
    else:
        assert '"approach":"legacy-vlan"' in text
        assert isinstance(begun.spec, HostsOnly) and begun.spec.underlay is None
        assert begun.spec.hosts


SINCE = {"eswitch_mode": {"combined": None, "rx": None, "tx": None}}
"""Fields that a step got since, as they are where it is asked for no more than it was then."""


def acts(plan: Plan) -> list[dict[str, Any]]:
    """Give the plan's steps as this version reads them, without their reasons.

    Words of a reason may become better, and a step may have a further field: what it does without
    is compared.
    """
    return [_act(step) for step in plan.steps]


def _act(planned: PlannedStep) -> dict[str, Any]:
    step = read_step(planned.step)
    act = planned.model_dump(exclude={"why"})
    then = step.model_copy(update=SINCE.get(planned.step["step"], {}))
    if then != step and planned.before is not None:
        step = then
        there = step.change(planned.before, planned.goal)
        back = step.change(planned.goal, planned.before)
        act |= {"commands": tuple(one.model_dump() for one in there)}
        act |= {"undo": tuple(one.model_dump() for one in back)}
    return {**act, "step": {**step.model_dump(mode="json"), "reason": ""}}


@pytest.mark.parametrize("folder", ["ovs-tc", "ovs-dpdk"], indirect=True)
def test_what_a_former_version_applied_is_undone(folder: Path):
    entries = read_journal(folder)
    run = dpdk_run() if "ovs-dpdk" in folder.joinpath("journal.jsonl").read_text() else Run()
    saved = Plan.model_validate_json((folder / "plan.json").read_text())
    assert whole_plan(entries) == saved
    # What newer versions do besides stands between the former steps, whose order is what it was.
    kinds = {step["step"]["step"] for step in acts(saved)}
    assert acts(saved) == [step for step in acts(run.plan) if step["step"]["step"] in kinds]
    run.plan = saved
    run.apply()
    assert not run.is_as_found()
    run.journal = entries
    run.undo()
    assert run.is_as_found()


@pytest.mark.parametrize("folder", ["proof"], indirect=True)
def test_a_kept_proof_is_read_and_its_pages_are_made_again(folder: Path):
    proof = read_proof(folder)
    assert [end.stage for end in proof.stages] == list(Stage)
    assert proof.undone is not None
    assert proof.undone.is_equal
    page = (folder / "report.html").read_text()
    (folder / "report.html").unlink()
    done = CliRunner().invoke(report, [str(folder)], standalone_mode=False)
    assert done.exception is None, done.output
    made = (folder / "report.html").read_text()
    verdict = page.partition('<div class="big">')[2].partition("</div>")[0]
    assert verdict
    assert f'<div class="big">{verdict}</div>' in made
