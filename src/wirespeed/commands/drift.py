"""`wirespeed drift`: what changed on the hosts since `wirespeed apply`."""

from pathlib import Path

import click

from wirespeed.apply.drift import applied_states, drifted, unread
from wirespeed.apply.read_states import read_states
from wirespeed.apply.run import read_journal, run_spec
from wirespeed.apply.run_place import run_folder
from wirespeed.commands.described import Described
from wirespeed.model.journal import outcome, whole_plan
from wirespeed.report.plan_text import drift_lines
from wirespeed.runs.hosts_of_spec import controls_of
from wirespeed.runs.lost_runs import refuse_lost
from wirespeed.runs.run_hosts import refuse_missing_hosts, spec_of_run
from wirespeed.terminal import echo


@click.command(
    cls=Described,
    reads="the journal of the run, and the state of each step on the hosts",
    changes="nothing",
    codes={
        0: "everything is as it was applied",
        1: "something differs",
        2: "bad input, or a reading that was cut off",
        3: "the journal is damaged or lost",
    },
)
@click.argument("spec", metavar="SPEC|RUN", type=click.Path(path_type=Path))
@click.option(
    "--run", "folder", type=click.Path(path_type=Path), help="Folder of the run, with its journal."
)
def drift(spec: Path, folder: Path | None) -> int:
    """Show what changed on the hosts since the last apply, by reading every step's state again."""
    where = folder or run_folder(spec)
    entries = read_journal(where)
    plan = whole_plan(entries)
    left = applied_states(plan, entries) if plan else {}
    if plan is None or outcome(entries) == "undone" or not left:
        read = spec_of_run(spec, run_spec(entries))
        with controls_of(read) as controls:
            refuse_lost(where, read, controls, must_ask=plan is None)
        echo(f"{where}: no step is in force, so nothing can have drifted")
        return 0
    with controls_of(spec_of_run(spec, run_spec(entries))) as controls:
        refuse_missing_hosts(where, plan, controls)
        found = drifted(plan, left, read_states(plan, list(left), controls))
    cut = unread(found)
    if cut:
        echo(f"INCOMPLETE: the reading of {cut} of {len(left)} steps was cut off")
    echo("\n".join(drift_lines(found, len(left), outcome(entries))))
    return 2 if cut else int(bool(found))
