"""`wirespeed plan`: the exact commands that a spec takes, and those that undo them."""

from pathlib import Path

import click

from wirespeed.apply.make import plan_spec
from wirespeed.commands.hosts_of_spec import read_spec, readers_of
from wirespeed.report.plan_text import plan_lines, shell_script


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
@click.option("--shell", metavar="HOST", help="Print one host's steps as a script.")
def plan(spec: Path, as_json: bool, shell: str | None) -> None:
    """Show what a spec takes: every command, in order, and its undo. Nothing is changed.

    Guests themselves are not set up yet: the plan makes their VFs, VLANs and MTUs on the hosts.
    """
    wanted = read_spec(spec)
    if shell is not None and shell not in wanted.hosts:
        raise click.BadParameter(f"no host {shell!r} in the spec", param_hint="--shell")
    with readers_of(wanted) as (facts, hands):
        made = plan_spec(wanted, facts, hands)
    if as_json:
        click.echo(made.model_dump_json(indent=1))
    elif shell is not None:
        click.echo(shell_script(made, shell), nl=False)
    else:
        click.echo("\n".join(plan_lines(made)))
