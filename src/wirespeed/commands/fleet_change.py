"""`wirespeed fleet apply`, `undo`, `status`: many hosts changed in waves."""

from pathlib import Path

import click

from wirespeed.commands.described import Described
from wirespeed.commands.quantities import FiniteRange
from wirespeed.commands.shared_options import (
    allow_inventory_code,
    break_lock,
    inventory_option,
    limit_option,
)
from wirespeed.fleet.waves import USUAL
from wirespeed.model.error import InputError
from wirespeed.terminal import echo

TRY_S = 300
AT_ONCE = 16


@click.command(
    cls=Described,
    reads="the inventory; each host's state before and after the change",
    changes="the hosts; the run folder; a copy of each journal on its host",
    codes={
        0: "every host has the change",
        1: "declined, or not every host has the change",
        2: "bad input",
        3: "a host was left changed",
    },
)
@click.argument("spec", type=click.Path(path_type=Path), required=False)
@inventory_option
@limit_option
@allow_inventory_code
@click.option(
    "--waves",
    default=USUAL,
    show_default=True,
    help="Number or share of hosts changed by the end of each wave.",
)
@click.option(
    "--most-failures",
    "bound",
    default=5.0,
    show_default=True,
    metavar="PERCENT",
    type=FiniteRange(0, 100),
    help="Share of a wave that may fail. If more hosts fail, the wave is undone, and no other "
    "starts.",
)
@click.option(
    "--try",
    "try_s",
    default=TRY_S,
    show_default=True,
    metavar="SECONDS",
    type=click.IntRange(10, 86400),
    help="Seconds after which a host undoes an unconfirmed change, even if wirespeed is killed.",
)
@click.option(
    "--at-once",
    default=AT_ONCE,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Hosts that are changed at the same time.",
)
@click.option(
    "--allow-cutoff", is_flag=True, help="Also change ports through which wirespeed reaches hosts."
)
@click.option("--allow-no-undo", is_flag=True, help="Also apply steps that cannot be undone.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--run",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder of the change.  [default: one of its own in ~/.local/state/wirespeed]",
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of a stopped change, to continue it.",
)
@break_lock
def apply(
    spec: Path | None,
    inventory: tuple[str, ...],
    limit: str | None,
    allow_inventory_code: bool,
    waves: str,
    bound: float,
    try_s: int,
    at_once: int,
    allow_cutoff: bool,
    allow_no_undo: bool,
    yes: bool,
    folder: Path | None,
    resume: Path | None,
    breaks_lock: bool,
) -> int:
    """Apply a spec to every host of an inventory, wave by wave.

    SPEC is a Jinja2 template for all hosts, filled with each host's variables, or a folder with
    NAME.yaml per host. Each host undoes the change unless all of it is verified and confirmed, so
    every host ends with the whole change or with none of it.
    """
    # Only here: what changes hosts takes longer to load than a help.
    from wirespeed.runs.fleet_apply import ApplyRequest, fleet_apply
    from wirespeed.runs.fleet_waves import go_through

    if resume is not None:
        return go_through(resume, breaks_lock=breaks_lock)
    if spec is None or not inventory:
        raise InputError(
            "options.invalid",
            where="fleet apply",
            found="SPEC or --inventory is missing",
            next="wirespeed fleet apply SPEC -i FILE, or --resume FOLDER",
        )
    asked = ApplyRequest(
        spec, inventory, limit, waves, bound / 100, try_s, at_once, allow_cutoff, allow_no_undo,
        yes, breaks_lock, folder, allow_inventory_code,
    )  # fmt: skip
    return fleet_apply(asked)


@click.command(
    cls=Described,
    reads="the hosts, and their copies of the journals; the journals in FOLDER",
    changes="the hosts; in FOLDER, lost journals are made again of the hosts' copies",
    codes={
        0: "every host has its former state",
        1: "a host could not be undone; its journal is kept",
        2: "bad input",
        3: "a host was left changed",
    },
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--wave", type=click.IntRange(1), help="Number of the only wave to undo.")
@break_lock
def undo(folder: Path, wave: int | None, breaks_lock: bool) -> int:
    """Undo a fleet's change, the last wave first, or one wave."""
    from wirespeed.runs.fleet_waves import undo_change

    return undo_change(folder, wave, breaks_lock=breaks_lock)


@click.command(
    cls=Described,
    reads="the journals in FOLDER, and their copies on the hosts",
    changes="nothing",
    codes={
        0: "every host has the change",
        1: "not every host has the change, or one could not be asked",
        2: "bad input",
        3: "a host was left changed, or does not say what FOLDER says",
    },
)
@click.argument("folder", type=click.Path(path_type=Path))
def status(folder: Path) -> int:
    """Show where each host of a fleet's change stands, by its own copies of the journals.

    Every host of a wave that was begun is asked. If a host and FOLDER do not say the same, both are
    named, with the way back, and the exit code is 3.
    """
    from wirespeed.runs.fleet_look import look

    now = look(folder)
    echo("\n".join(now.lines()))
    return now.exit_code


COMMANDS = (apply, undo, status)
