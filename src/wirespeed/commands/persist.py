"""`wirespeed persist`: what was applied comes back when its hosts boot."""

from pathlib import Path

import click

from wirespeed.apply.run_place import run_folder
from wirespeed.commands.described import Described
from wirespeed.commands.shared_options import break_lock, undo_options
from wirespeed.runs.persist_run import PersistRequest, forget_run, persist_run
from wirespeed.runs.run_hosts import HowUndone


@click.command(
    cls=Described,
    reads="the journal of the run, and both files on the hosts",
    changes="the script and the unit on each host; the run folder",
    codes={
        0: "the settings are persistent; with --remove: no longer persistent",
        1: "refused, or all steps were undone after a failure",
        2: "bad input",
        3: "a host was left changed",
    },
)
@click.argument("spec", metavar="SPEC|RUN", type=click.Path(path_type=Path))
@click.option(
    "--run", "folder", type=click.Path(path_type=Path), help="Folder of the run, with its journal."
)
@click.option(
    "--remove",
    is_flag=True,
    help="Remove the script and unit, so that the next boot starts without the settings.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@undo_options
@break_lock
def persist(
    spec: Path,
    folder: Path | None,
    remove: bool,
    yes: bool,
    force: bool,
    forget: tuple[str, ...],
    breaks_lock: bool,
) -> int:
    """Restore an applied spec at every boot, with a script and a systemd unit on each host.

    Script and unit are written as steps: shown first, journalled, verified, and undone if one
    fails. The running settings are not changed.
    """
    asked = PersistRequest(spec, folder or run_folder(spec), yes=yes, breaks_lock=breaks_lock)
    return forget_run(asked, HowUndone(force, forget)) if remove else persist_run(asked)
