"""`wirespeed confirm`: keep what `apply --try` did."""

from pathlib import Path

import click

from wirespeed.apply.run import open_run
from wirespeed.apply.run_place import run_folder
from wirespeed.commands.described import Described
from wirespeed.commands.shared_options import break_lock
from wirespeed.model.error import InputError
from wirespeed.runs.hosts_of_spec import controls_of
from wirespeed.runs.keep_run import keep
from wirespeed.runs.run_hosts import spec_of_run


@click.command(
    cls=Described,
    reads="the timer of the run on each host",
    changes="the timers are stopped; after exit code 1 the hosts are as before apply",
    codes={
        0: "kept",
        1: "too late: the whole run was undone",
        2: "bad input",
        3: "a host was left changed",
    },
)
@click.argument("spec", metavar="SPEC|RUN", type=click.Path(path_type=Path))
@click.option(
    "--run", "folder", type=click.Path(path_type=Path), help="Folder of the run, with its journal."
)
@break_lock
def confirm(spec: Path, folder: Path | None, breaks_lock: bool) -> int:
    """Keep what `wirespeed apply --try` changed: stop the timers that would undo it.

    wirespeed asks every host over a new connection. If a host has already undone the run, the run
    is undone on the others too.
    """
    with open_run(folder or run_folder(spec), must_exist=True, breaks=breaks_lock) as run:
        if run.plan is None or run.outcome != "unconfirmed":
            raise InputError(
                "try.nothing_waits",
                where=str(run.folder),
                found=f"the run in this folder is {run.outcome}",
                so="only a run of `apply --try` that is still unconfirmed can be confirmed; "
                "nothing was changed",
                next=f"wirespeed status {spec}",
            )
        with controls_of(spec_of_run(spec, run.spec)) as controls:
            keep(run, run.plan, controls, str(spec))
    return 0
