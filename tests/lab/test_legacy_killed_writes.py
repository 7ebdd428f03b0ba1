"""A controller that is killed at each line of its journal: the next one finishes, or takes back."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from namespace_story import PORTS, SMALL, assert_as_before, is_killed, standing, states, written

from wirespeed.apply.run import open_run
from wirespeed.lab.machines import Machines
from wirespeed.model.journal import Begun, Intent
from wirespeed.model.observed import Known
from wirespeed.runs.hosts_of_spec import controls_of, read_spec
from wirespeed.runs.plan_hosts import plan_hosts
from wirespeed.runs.run_hosts import apply_plan, undo_plan

pytestmark = [pytest.mark.machines, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    with Machines(name=f"test-{os.getpid()}-writes") as lab:
        yield lab


@pytest.mark.rare
@pytest.mark.timeout(3600)
def test_legacy_apply_killed_at_every_journal_write_ends_in_start_or_goal(
    lab: Machines, tmp_path: Path
):
    """One port and one guest; MTUs as found, for each change resets the port: time is dear."""
    spec = written(lab, tmp_path / "spec.yaml", SMALL, {"alpha": PORTS[:1]})
    before = standing(lab)
    wanted, folder, saved = read_spec(spec), tmp_path / "run", tmp_path / "plan.json"
    with controls_of(wanted) as controls:
        plan, _ = plan_hosts(wanted, controls)
        saved.write_text(plan.model_dump_json())
        start = states(controls, plan)
        with open_run(folder) as run:
            apply_plan(run, plan, controls)
            entries = list(run.entries)
            goal = states(controls, plan)
            undo_plan(run, plan, controls, "spec.yaml")
        assert states(controls, plan) == start != goal
        assert all(isinstance(state, Known) for state in goal)

        for place, entry in enumerate(entries):
            # Of what was written: the intent, and nothing is done; not the result, and all is.
            when = "after" if isinstance(entry, Begun | Intent) else "before"
            # Another run: one whose journal alone is gone is a damaged one.
            shutil.rmtree(folder)
            killed = is_killed(spec, saved, folder, place, when)
            lines = (folder / "journal.jsonl").read_text().splitlines()
            # An apply of fewer lines: the VF had its address before it was read.
            assert len(lines) == place + (when == "after") if killed else len(lines) <= place
            end = "undo" if place // 2 % 2 else "apply"
            with open_run(folder) as run:
                if end == "apply" and killed:
                    apply_plan(run, plan, controls)
                    assert states(controls, plan) == goal, (place, when)
                undo_plan(run, plan, controls, "spec.yaml")
            assert states(controls, plan) == start, (place, when, end)
    assert_as_before(lab, before)
