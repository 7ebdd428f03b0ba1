"""`wirespeed undo`: put everything back as it was before `wirespeed apply`."""

from pathlib import Path

import click

from wirespeed.apply.run import JOURNAL, open_run
from wirespeed.apply.stages import needs_reboot
from wirespeed.commands.compare_folder import compare_folder, standing_runs
from wirespeed.commands.hosts_of_spec import hands_of
from wirespeed.commands.persist import is_made_to_last
from wirespeed.commands.run_hosts import run_folder, spec_of_run, take_back
from wirespeed.host.files import is_file


@click.command()
@click.argument("spec", metavar="SPEC|RUN", type=click.Path(path_type=Path))
@click.option("--run", "folder", type=click.Path(path_type=Path), help="Folder of the journal.")
def undo(spec: Path, folder: Path | None) -> int:
    """Put everything back as it was before `wirespeed apply`, last step first, all stages.

    SPEC is the spec that was applied, RUN the folder of its run. What a comparison of the spec
    left that was killed is taken back too.

    Exit codes: 0 all is as it was, 2 bad input, 3 a host was left changed.
    """
    where = folder or run_folder(spec)
    of_compare = [] if folder else standing_runs(spec) or standing_runs(compare_folder(spec))
    for one in of_compare:
        click.echo(f"{one}: a comparison left it")
        _undo(one, one)
    if not of_compare or is_file(where / JOURNAL):
        _undo(where, spec)
    return 0


def _undo(where: Path, spec: Path) -> None:
    with open_run(where, must_exist=True) as run, hands_of(spec_of_run(spec, run.spec)) as hands:
        if run.plan is None or run.outcome == "undone":
            click.echo(f"{run.folder}: nothing stands that could be undone")
            return
        plan = run.plan
        take_back(run, plan, hands, str(spec))
        for host in dict.fromkeys(step.host for step in plan.steps):
            if needs_reboot([s for s in plan.steps if s.host == host and not s.no_op]):
                click.echo(f"{host} is as before from its next boot on")
        if is_made_to_last(where):
            click.echo(f"the next boot brings it back: wirespeed persist --remove {spec}")
