"""`wirespeed undo`: put everything back as it was before `wirespeed apply`."""

from pathlib import Path

import click

from wirespeed.apply.copy_folder import folder_of_copy
from wirespeed.apply.run import is_run, open_run
from wirespeed.apply.run_place import run_folder
from wirespeed.commands.described import Described
from wirespeed.commands.shared_options import break_lock, undo_options
from wirespeed.model.error import InputError
from wirespeed.runs.compare_folder import compare_folder, standing_runs
from wirespeed.runs.copy_way import Way
from wirespeed.runs.hosts_of_spec import controls_of, lone_host
from wirespeed.runs.named_host import chosen_copies, named_host, runs_on
from wirespeed.runs.run_hosts import HowUndone, lock_hosts, spec_of_run
from wirespeed.runs.undo_run import undo_run
from wirespeed.terminal import confirm, echo


@click.command(
    cls=Described,
    reads="the state of each step on the hosts",
    changes="the hosts, back to their former state; the run folder",
    codes={
        0: "everything is as it was",
        1: "with HOST: you declined",
        2: "bad input",
        3: "a host was left changed",
    },
)
@click.argument("spec", metavar="SPEC|RUN|HOST")
@click.option(
    "--run", "folder", type=click.Path(path_type=Path), help="Folder of the run, with its journal."
)
@click.option(
    "--only",
    metavar="RUN",
    default="",
    help="With HOST: id of the only run to undo, or its first digits.",
)
@click.option("--yes", is_flag=True, help="With HOST: do not ask for confirmation.")
@undo_options
@break_lock
def undo(
    spec: str,
    folder: Path | None,
    only: str,
    yes: bool,
    force: bool,
    forget: tuple[str, ...],
    breaks_lock: bool,
) -> int:
    """Undo everything that `wirespeed apply` changed: all stages, the last step first.

    SPEC is the spec that was applied, RUN the folder of its run. If a comparison of the spec was
    killed, what it left is undone too.

    HOST (here, ssh://…) is a Linux host whose run folder is lost. wirespeed shows every run that is
    applied there, asks, and undoes them, the latest first, from the copy of the journal on the
    host. If the machine that applied them is lost too, add --break-lock.

    If others changed a setting after the run, undo leaves it and the steps that depend on it, names
    them, and undoes everything else: see --force and --forget.
    """
    how = HowUndone(force, forget)
    if folder is None and (host := named_host(spec)):
        return _undo_host(host, only, how, yes=yes, breaks=breaks_lock)
    path = Path(spec)
    where = folder or run_folder(path)
    of_compare = [] if folder else standing_runs(path) or standing_runs(compare_folder(path))
    for one in of_compare:
        echo(f"{one}: a comparison left it")
        undo_run(one, one, how, breaks=breaks_lock)
    if not of_compare or is_run(where):
        undo_run(where, path, how, breaks=breaks_lock)
    return 0


def _undo_host(host: str, only: str, how: HowUndone, *, yes: bool, breaks: bool) -> int:
    spec = lone_host(host)
    (name,) = spec.hosts
    with controls_of(spec) as controls:
        runs = runs_on(controls[name])
    ways = [Way.of(copy, spec) for copy in chosen_copies(host, runs, only)]
    if not ways:
        echo(f"{host}: no run is applied, so there is nothing to undo")
        return 0
    if how.forget and len(ways) > 1:
        raise InputError(
            "forget.not_one",
            where=host,
            found=f"{len(ways)} runs are applied there, each with its own steps",
            so="nothing was changed",
            next=f"list them with `wirespeed status {host}`; then give one: --only RUN",
        )
    for way in ways:
        echo("\n".join(way.lines()))
    if not yes and not confirm(f"Undo this on {host}, the last step first?"):
        return 1
    for way in ways:
        folder = way.folder or folder_of_copy(way.copy, way.journal, spec)
        echo(f"{folder}: run {way.copy.run}")
        if way.is_known_undone:
            _tell_undone(folder, breaks=breaks)
        else:
            undo_run(folder, folder, how, breaks=breaks)
    return 0


def _tell_undone(folder: Path, *, breaks: bool) -> None:
    """Bring the hosts' copies up to date: the hosts could not be reached when it was undone."""
    with (
        open_run(folder, breaks=breaks) as run,
        controls_of(spec_of_run(folder, run.spec)) as controls,
        lock_hosts(run, controls),
    ):
        echo(f"{folder}: it was undone from here; its hosts' copies are brought up to date")
