"""`wirespeed undo`: put everything back as it was before `wirespeed apply`."""

from pathlib import Path

import click

from wirespeed.apply.journal_damage import not_put_back
from wirespeed.apply.run import is_run, salvage_run
from wirespeed.apply.run_place import run_folder
from wirespeed.apply.stages import needs_reboot
from wirespeed.commands.break_lock import break_lock
from wirespeed.commands.compare_folder import compare_folder, standing_runs
from wirespeed.commands.echo import echo
from wirespeed.commands.hosts_of_spec import hands_of
from wirespeed.commands.persist import is_made_to_last
from wirespeed.commands.run_hosts import spec_of_run, take_back
from wirespeed.commands.undo_options import HowUndone, undo_options


@click.command()
@click.argument("spec", metavar="SPEC|RUN", type=click.Path(path_type=Path))
@click.option("--run", "folder", type=click.Path(path_type=Path), help="Folder of the journal.")
@undo_options
@break_lock
def undo(
    spec: Path, folder: Path | None, force: bool, forget: tuple[str, ...], breaks_lock: bool
) -> int:
    """Put everything back as it was before `wirespeed apply`, last step first, all stages.

    SPEC is the spec that was applied, RUN the folder of its run. What a comparison of the spec
    left that was killed is taken back too.

    What is neither as the run left it nor as it was before, somebody else changed: it is named and
    left alone, with the steps that hang together with it; all else is put back.

    Exit codes: 0 all is as it was, 2 bad input, 3 a host was left changed.
    """
    where, how = folder or run_folder(spec), HowUndone(force, forget)
    of_compare = [] if folder else standing_runs(spec) or standing_runs(compare_folder(spec))
    for one in of_compare:
        echo(f"{one}: a comparison left it")
        _undo(one, one, how, breaks=breaks_lock)
    if not of_compare or is_run(where):
        _undo(where, spec, how, breaks=breaks_lock)
    return 0


def _undo(where: Path, spec: Path, how: HowUndone, *, breaks: bool) -> None:
    with (
        salvage_run(where, breaks=breaks) as run,
        hands_of(spec_of_run(spec, run.spec)) as hands,
    ):
        plan = run.plan
        if plan is None or (run.outcome == "undone" and not run.told.damage):
            echo(f"{run.folder}: nothing stands that could be undone")
            return
        if run.outcome != "undone":
            take_back(run, plan, hands, str(spec), how)
        if run.told.damage and (left := not_put_back(where, run.told, plan)):
            raise left
        for host in dict.fromkeys(step.host for step in plan.steps):
            if needs_reboot([s for s in plan.steps if s.host == host and not s.no_op]):
                echo(f"{host} is as before from its next boot on")
        if is_made_to_last(where):
            echo(f"the next boot brings it back: wirespeed persist --remove {spec}")
