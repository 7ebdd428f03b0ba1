"""`wirespeed undo`: put everything back as it was before `wirespeed apply`."""

from pathlib import Path

import click

from wirespeed.apply.executor import Executor
from wirespeed.apply.run import open_run
from wirespeed.commands.apply import run_folder, taken, telling
from wirespeed.commands.hosts_of_spec import hands_of, read_spec
from wirespeed.host.clock import utc_now


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--run", "folder", type=click.Path(path_type=Path), help="Folder of the journal.")
def undo(spec: Path, folder: Path | None) -> int:
    """Put everything back as it was before `wirespeed apply`, last step first.

    Exit codes: 0 all is as it was, 2 bad input, 3 a host was left changed.
    """
    wanted = read_spec(spec)
    with open_run(folder or run_folder(spec), must_exist=True) as run, hands_of(wanted) as hands:
        if run.plan is None or run.outcome == "undone":
            click.echo(f"{run.folder}: nothing stands that could be undone")
            return 0
        with taken(run, hands):
            Executor(run.plan, hands, telling(run, run.plan), utc_now, run.entries).undo()
    return 0
