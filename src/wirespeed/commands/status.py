"""`wirespeed status`: how far a run came, from its journal alone."""

from pathlib import Path

import click

from wirespeed.apply.run import JOURNAL, read_journal
from wirespeed.commands.apply import run_folder
from wirespeed.host.files import is_file
from wirespeed.model.error import InputError
from wirespeed.model.journal import Begun, Ended
from wirespeed.report.plan_text import status_lines


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--run", "folder", type=click.Path(path_type=Path), help="Folder of the journal.")
def status(spec: Path, folder: Path | None) -> int:
    """Say how far the run of a spec came, from its journal alone; no host is asked.

    Exit codes: 0 applied or undone, 1 unfinished, 2 bad input, 3 a host was left changed.
    """
    where = folder or run_folder(spec)
    if not is_file(where / JOURNAL):
        raise InputError("run.missing", where=str(where), found=f"no {JOURNAL}")
    entries = read_journal(where)
    plan = next((entry.plan for entry in entries if isinstance(entry, Begun)), None)
    if plan is None:
        click.echo("nothing was begun")
        return 0
    outcome = entries[-1].outcome if isinstance(entries[-1], Ended) else "unfinished"
    click.echo("\n".join(status_lines(plan, entries, outcome)))
    return {"applied": 0, "undone": 0, "unfinished": 1}.get(outcome, 3)
