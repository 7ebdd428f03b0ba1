"""`wirespeed status`: how far a run came, from its journal alone."""

from pathlib import Path

import click

from wirespeed.apply.journal_damage import refuse_damage
from wirespeed.apply.run import read_told
from wirespeed.apply.run_place import run_folder
from wirespeed.commands.echo import echo
from wirespeed.commands.list_runs import run_lines
from wirespeed.commands.run_hosts import REBOOT_DUE
from wirespeed.model.journal import outcome, whole_plan
from wirespeed.model.journal_salvage import undoable
from wirespeed.report.plan_text import salvage_lines, status_lines

CODES = {"applied": 0, "undone": 0, "unfinished": 1, "unconfirmed": 1, "staged": REBOOT_DUE}


@click.command()
@click.argument("spec", metavar="[SPEC|RUN]", required=False, type=click.Path(path_type=Path))
@click.option("--run", "folder", type=click.Path(path_type=Path), help="Folder of the journal.")
def status(spec: Path | None, folder: Path | None) -> int:
    """Show the progress of a run, from its journal alone: no host is asked.

    Without SPEC it lists the runs that are known: those in ~/.local/state/wirespeed/runs.

    Exit codes: 0 applied or undone; 1 unfinished, or not confirmed; 2 bad input; 3 a host was left
    changed; 4 a stage is done, and a host is to be rebooted. Of a journal with damaged lines it
    says which steps can still be undone, and ends with 3.
    """
    if spec is None and folder is None:
        echo("\n".join(run_lines()))
        return 0
    where = folder or run_folder(spec or Path())
    told = read_told(where)
    entries = told.entries
    plan = whole_plan(entries)
    if plan is None:
        echo("nothing was begun")
        return 0
    how = outcome(entries)
    if told.damage:
        echo("\n".join(salvage_lines(plan, undoable(plan, told))))
        refuse_damage(where, told)
    echo("\n".join(status_lines(plan, entries, how)))
    return CODES.get(how, 3)
