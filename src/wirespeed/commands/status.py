"""`wirespeed status`: how far a run came, from its journal alone."""

from pathlib import Path

import click

from wirespeed.apply.run import read_journal
from wirespeed.commands.run_hosts import REBOOT_DUE, run_folder
from wirespeed.model.journal import outcome, whole_plan
from wirespeed.report.plan_text import status_lines


@click.command()
@click.argument("spec", metavar="SPEC|RUN", type=click.Path(path_type=Path))
@click.option("--run", "folder", type=click.Path(path_type=Path), help="Folder of the journal.")
def status(spec: Path, folder: Path | None) -> int:
    """Say how far the run of a spec came, from its journal alone; no host is asked.

    Exit codes: 0 applied or undone; 1 unfinished; 2 bad input; 3 a host was left changed; 4 a stage
    is done, and a host is to be rebooted.
    """
    where = folder or run_folder(spec)
    entries = read_journal(where)
    plan = whole_plan(entries)
    if plan is None:
        click.echo("nothing was begun")
        return 0
    how = outcome(entries)
    click.echo("\n".join(status_lines(plan, entries, how)))
    return {"applied": 0, "undone": 0, "unfinished": 1, "staged": REBOOT_DUE}.get(how, 3)
