"""A run undone by its folder, with what the copies on its hosts add to a damaged journal."""

from collections.abc import Mapping
from pathlib import Path

from wirespeed.apply.control import HostControl
from wirespeed.apply.heal import heal
from wirespeed.apply.journal_damage import not_put_back
from wirespeed.apply.run import Run, salvage_run
from wirespeed.apply.stages import needs_reboot
from wirespeed.runs.hosts_of_spec import controls_of
from wirespeed.runs.lost_runs import refuse_lost
from wirespeed.runs.persist_run import is_made_to_last
from wirespeed.runs.run_hosts import HowUndone, lock_hosts, spec_of_run, undo_plan
from wirespeed.terminal import echo


def undo_run(where: Path, spec: Path, how: HowUndone, *, breaks: bool) -> None:
    """Undo the run in the folder `where`, of the spec in the file `spec`.

    Raises LeftChangedError `run.damaged` where something may be in force still, `run.lost` where a
    host says that another run of the folder is applied there.
    """
    with (
        salvage_run(where, breaks=breaks) as run,
        controls_of(read := spec_of_run(spec, run.spec)) as controls,
    ):
        if run.told.damage:
            _heal(run, controls)
        plan = run.plan
        if plan is None or (run.outcome == "undone" and not run.told.damage):
            refuse_lost(run.folder, read, controls, must_ask=plan is None)
            echo(f"{run.folder}: no step is in force, so there is nothing to undo")
            return
        if run.outcome != "undone":
            undo_plan(run, plan, controls, str(spec), how)
            plan = run.plan or plan
        if run.told.damage:
            # What was undone just now is no longer among what may be in force.
            if left := not_put_back(where, run.told, plan):
                raise left
            run.put_aside()
            echo(f"{run.folder}: the damaged journal is kept there, and no longer in the way")
        for host in dict.fromkeys(step.host for step in plan.steps):
            if needs_reboot([s for s in plan.steps if s.host == host and not s.no_op]):
                echo(f"{host} is as before only after its next boot")
        if is_made_to_last(where):
            echo(
                "the next boot applies it again: to stop that, run `wirespeed persist --remove "
                f"{spec}`"
            )
        refuse_lost(run.folder, read, controls, must_ask=False)


def _heal(run: Run, controls: Mapping[str, HostControl]) -> None:
    with lock_hosts(run, controls) as held:
        added = heal(run, held.copies)
    if not run.told.damage or added:
        lines = f"{added} lost line{'s' * (added != 1)} of the journal"
        echo(f"{run.folder}: damaged; {lines} taken from the hosts' copies")
