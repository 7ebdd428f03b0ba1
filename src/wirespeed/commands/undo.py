"""`wirespeed undo`: put everything back as it was before `wirespeed apply`."""

from pathlib import Path

import click

from wirespeed.apply.run import open_run
from wirespeed.apply.stages import needs_reboot
from wirespeed.commands.hosts_of_spec import hands_of
from wirespeed.commands.persist import is_made_to_last
from wirespeed.commands.run_hosts import run_folder, spec_of_run, take_back


@click.command()
@click.argument("spec", metavar="SPEC|RUN", type=click.Path(path_type=Path))
@click.option("--run", "folder", type=click.Path(path_type=Path), help="Folder of the journal.")
def undo(spec: Path, folder: Path | None) -> int:
    """Put everything back as it was before `wirespeed apply`, last step first, all stages.

    SPEC is the spec that was applied, RUN the folder of its run.

    Exit codes: 0 all is as it was, 2 bad input, 3 a host was left changed.
    """
    where = folder or run_folder(spec)
    with open_run(where, must_exist=True) as run, hands_of(spec_of_run(spec, run.spec)) as hands:
        if run.plan is None or run.outcome == "undone":
            click.echo(f"{run.folder}: nothing stands that could be undone")
            return 0
        plan = run.plan
        take_back(run, plan, hands, str(spec))
        for host in dict.fromkeys(step.host for step in plan.steps):
            if needs_reboot([s for s in plan.steps if s.host == host and not s.no_op]):
                click.echo(f"{host} is as before from its next boot on")
        if is_made_to_last(where):
            click.echo(f"the next boot brings it back: wirespeed persist --remove {spec}")
    return 0
