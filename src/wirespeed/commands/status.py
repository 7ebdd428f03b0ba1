"""`wirespeed status`: how far a run came, from its journal alone; or what stands on a host."""

from pathlib import Path

import click

from wirespeed.apply.journal_damage import refuse_damage
from wirespeed.apply.run import read_told
from wirespeed.apply.run_place import run_folder
from wirespeed.commands.described import Described
from wirespeed.model.journal import outcome, whole_plan
from wirespeed.model.journal_salvage import undoable
from wirespeed.report.plan_text import salvage_lines, status_lines
from wirespeed.runs.copy_way import told_copy
from wirespeed.runs.hosts_of_spec import controls_of, lone_host
from wirespeed.runs.list_runs import run_lines
from wirespeed.runs.named_host import held_lines, named_host, runs_on
from wirespeed.runs.run_hosts import REBOOT_DUE
from wirespeed.terminal import echo

LEFT_CHANGED = 3
CODES = {"applied": 0, "undone": 0, "unfinished": 1, "unconfirmed": 1, "staged": REBOOT_DUE}


@click.command(
    cls=Described,
    reads="the journal; with HOST, the copies of journals on that host",
    changes="nothing",
    codes={
        0: "applied or undone",
        1: "unfinished, or not confirmed",
        2: "bad input",
        3: "a host was left changed",
        4: "a stage is done, and a host must be rebooted",
    },
)
@click.argument("spec", metavar="[SPEC|RUN|HOST]", required=False)
@click.option(
    "--run", "folder", type=click.Path(path_type=Path), help="Folder of the run, with its journal."
)
def status(spec: str | None, folder: Path | None) -> int:
    """Show the progress of a run, from its journal alone.

    Without SPEC, the runs in ~/.local/state/wirespeed/runs are listed.

    HOST (here, ssh://…) is a Linux host. Its own records show the runs applied to it: who started
    them, when, and with which steps; which run has locked the host; and what the host will undo
    unless it is confirmed. The exit code is that of the worst run.

    If lines of the journal are damaged, the steps that can still be undone are listed, and the exit
    code is 3.
    """
    if spec is None and folder is None:
        echo("\n".join(run_lines()))
        return 0
    if spec is not None and folder is None and (host := named_host(spec)):
        return _status_host(host)
    where = folder or run_folder(Path(spec or ""))
    told = read_told(where)
    entries = told.entries
    plan = whole_plan(entries)
    if plan is None:
        echo("nothing was started")
        return 0
    how = outcome(entries)
    if told.damage:
        echo("\n".join(salvage_lines(plan, undoable(plan, told))))
        refuse_damage(where, told)
    echo("\n".join(status_lines(plan, entries, how)))
    return CODES.get(how, LEFT_CHANGED)


def _status_host(host: str) -> int:
    spec = lone_host(host)
    (name,) = spec.hosts
    with controls_of(spec) as controls:
        runs = runs_on(controls[name])
    codes = []
    for copy in runs.standing:
        how, lines = told_copy(copy, spec, runs.gone.get(copy.run))
        codes.append(CODES.get(how, LEFT_CHANGED))
        echo("\n".join(lines))
    echo("\n".join(held_lines(runs)) + "\n" if runs.owner or runs.armed else "", nl=False)
    undone = len(runs.copies) - len(runs.standing)
    echo(f"{host}: {len(runs.standing)} runs are applied, {undone} are undone")
    if runs.standing:
        echo(f"`wirespeed undo {host}` undoes the applied runs, the latest first")
    return LEFT_CHANGED if LEFT_CHANGED in codes else max(codes, default=0)
