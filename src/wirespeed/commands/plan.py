"""`wirespeed plan`: the exact commands that a spec takes, and those that undo them."""

from pathlib import Path

import click

from wirespeed.apply.make import When, plan_spec
from wirespeed.apply.run import is_run, read_journal
from wirespeed.apply.run_place import run_folder
from wirespeed.apply.spec_file import parse_spec
from wirespeed.commands.described import Described
from wirespeed.commands.import_spec import FORMS, imported
from wirespeed.commands.shared_options import allow_inventory_code
from wirespeed.model.journal import Begun, outcome, whole_plan
from wirespeed.model.spec.spec import Spec
from wirespeed.report.plan_diff import diff_lines
from wirespeed.report.plan_text import plan_lines, shell_script
from wirespeed.runs.hosts_of_spec import read_spec, readers_of
from wirespeed.runs.run_hosts import live_hosts, still_to_reboot
from wirespeed.runs.unread_states import unread_script
from wirespeed.terminal import echo


@click.command(
    cls=Described,
    reads="the hosts of SPEC, or their captures",
    changes="nothing",
    codes={0: "planned", 2: "bad input, or a host that could not be read"},
)
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="SPEC")
@click.option(
    "--from",
    "form",
    type=click.Choice(FORMS),
    help="Plan from the files of another tool, given in place of SPEC.",
)
@click.option(
    "--host",
    "hosts",
    metavar="NAME=REACH",
    multiple=True,
    help="With --from: name of a host, and how to read it: here, ssh://USER@HOST or a capture.",
)
@click.option(
    "--subnet",
    "subnets",
    metavar="NAME=SUBNET",
    multiple=True,
    help="With --from: subnet of a network, such as underlay=192.168.9.0/24; needed if VFs have "
    "VLANs or bridges.",
)
@click.option(
    "--segment",
    "segments",
    metavar="NAME=VNI",
    multiple=True,
    help="With --from: VXLAN network identifier of a network; needed if VFs have bridges.",
)
@allow_inventory_code
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
@click.option("--diff", "as_diff", is_flag=True, help="Print only what differs on the hosts.")
@click.option("--shell", metavar="HOST", help="Print one host's steps as a script.")
@click.option(
    "--unread", metavar="HOST", help="Print a script that reads what the capture of HOST lacks."
)
def plan(
    files: tuple[Path, ...],
    form: str | None,
    hosts: tuple[str, ...],
    subnets: tuple[str, ...],
    segments: tuple[str, ...],
    allow_inventory_code: bool,
    as_json: bool,
    as_diff: bool,
    shell: str | None,
    unread: str | None,
) -> None:
    """Show every command that a spec needs, in order, with its undo.

    If a host must be rebooted, the plan ends there; the rest is planned after the reboot.
    With --from, give files of another tool instead of SPEC. To apply such a plan, first write a
    spec with `wirespeed import-spec`.
    """
    wanted, where = _wanted(files, form, hosts, subnets, segments, allow_inventory_code)
    if shell is not None and shell not in wanted.hosts:
        raise click.BadParameter(f"no host {shell!r} in the spec", param_hint="--shell")
    if unread is not None and unread not in wanted.hosts:
        raise click.BadParameter(f"no host {unread!r} in the spec", param_hint="--unread")
    entries = read_journal(where) if where is not None and is_run(where) else []
    with readers_of(wanted) as (facts, control):
        if unread is not None:
            echo(unread_script(wanted, unread, facts, control), nl=False)
            return
        at_once = live_hosts(wanted)
        pending = still_to_reboot(entries, control)
        begun = sum(isinstance(entry, Begun) for entry in entries)
        is_next = outcome(entries) == "staged" and not pending
        when = When(begun + 1 if is_next else 1, pending, at_once)
        made = plan_spec(wanted, facts, control, when)
    if as_json:
        echo(made.model_dump_json(indent=1))
    elif shell is not None:
        echo(shell_script(made, shell), nl=False)
    elif as_diff:
        echo("\n".join(diff_lines(made)))
    else:
        former = whole_plan(entries) if is_next else None
        echo("\n".join(plan_lines(made, first=1 + len(former.steps if former else ()))))


def _wanted(
    files: tuple[Path, ...], form: str | None, hosts: tuple[str, ...], subnets: tuple[str, ...],
    segments: tuple[str, ...], allow_inventory_code: bool,
) -> tuple[Spec, Path | None]:  # fmt: skip
    """Give the spec, and the folder of its run; files of another tool have none."""
    if form is not None:
        made = imported(form, files, hosts, subnets, segments, allow_inventory_code)
        return parse_spec(made.text, f"the files of {form}"), None
    for option, given in (
        ("--host", hosts), ("--subnet", subnets), ("--segment", segments),
        ("--allow-inventory-code", allow_inventory_code),
    ):  # fmt: skip
        if given:
            raise click.BadParameter("only with --from", param_hint=option)
    if len(files) != 1:
        raise click.BadParameter(f"found {len(files)} files; expected one", param_hint="SPEC")
    return read_spec(files[0]), run_folder(files[0])
