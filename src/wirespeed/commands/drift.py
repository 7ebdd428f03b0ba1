"""`wirespeed drift`: what other hands have changed since `wirespeed apply`."""

from pathlib import Path

import click

from wirespeed.apply.drift import drifted, left_states
from wirespeed.apply.run import read_journal, run_spec
from wirespeed.apply.standing import read_steps
from wirespeed.commands.hosts_of_spec import hands_of
from wirespeed.commands.run_hosts import refuse_missing_hosts, run_folder, spec_of_run
from wirespeed.model.journal import outcome, whole_plan
from wirespeed.report.plan_text import drift_lines


@click.command()
@click.argument("spec", metavar="SPEC|RUN", type=click.Path(path_type=Path))
@click.option("--run", "folder", type=click.Path(path_type=Path), help="Folder of the journal.")
def drift(spec: Path, folder: Path | None) -> int:
    """Say what is no longer as `wirespeed apply` left it, by reading every step's state afresh.

    Exit codes: 0 all is as it was left, 1 something is not, 2 bad input.
    """
    where = folder or run_folder(spec)
    entries = read_journal(where)
    plan = whole_plan(entries)
    left = left_states(plan, entries) if plan else {}
    if plan is None or outcome(entries) == "undone" or not left:
        click.echo(f"{where}: nothing stands that could have drifted")
        return 0
    with hands_of(spec_of_run(spec, run_spec(entries))) as hands:
        refuse_missing_hosts(where, plan, hands)
        found = drifted(plan, left, read_steps(plan, list(left), hands))
    click.echo("\n".join(drift_lines(found, len(left), outcome(entries))))
    return 1 if found else 0
