"""`wirespeed fleet`: many hosts of an inventory, judged by causes that they share."""

from pathlib import Path
from typing import Any

import click

from wirespeed.commands import fleet_change, fleet_kept
from wirespeed.commands.described import Described
from wirespeed.commands.doctor import print_lines
from wirespeed.commands.fleet_kept import database_option
from wirespeed.commands.shared_options import (
    allow_inventory_code,
    frame_bytes_option,
    inventory_option,
    limit_option,
    purpose_option,
    seconds_option,
    timeout_option,
)
from wirespeed.host.capture_request import LIMIT
from wirespeed.model.question import Purpose, Question
from wirespeed.terminal import echo


@click.group()
def fleet() -> None:
    """Diagnose, record and change many hosts of an inventory together.

    The inventory is Ansible's. Its program ansible-inventory reads it:
    docs/install.md says how to add it.
    """


for _command in (*fleet_change.COMMANDS, *fleet_kept.COMMANDS):
    fleet.add_command(_command)


@fleet.command(
    cls=Described,
    reads="the hosts, as doctor does; or the captures in a folder",
    changes="nothing on the hosts; the folder of the result, the database",
    codes={
        0: "no finding above a note on any host",
        1: "findings, or a host without an answer",
        2: "bad input, or a reading that was cut off",
    },
)
@inventory_option
@limit_option
@allow_inventory_code
@click.option(
    "--captures",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of captures made elsewhere, NAME.txt or NAME.capture, also with .gz; no host is "
    "reached.",
)
@purpose_option
@frame_bytes_option(1518)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="VARIABLE",
    help="Inventory variable to group hosts by, in addition to rack, switch, role, row, pod, "
    "room, site; may be repeated.",
)
@click.option(
    "--at-once",
    default=LIMIT,
    show_default=True,
    type=click.IntRange(1, 512),
    help="Hosts that are read at the same time.",
)
@timeout_option
@seconds_option(0)
@click.option("--sudo", is_flag=True, help="Read as root, with `sudo -n` on each host.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the result: fleet.html, fleet.json, captures.  [default: one of its own in "
    "~/.local/state/wirespeed/fleet]",
)
@database_option
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.option("--verbose", is_flag=True, help="Show every cause, every host and every command.")
def doctor(
    purpose: str | None,
    frame_bytes: int,
    database: str | None,
    as_json: bool,
    verbose: bool,
    **asked: Any,
) -> int:
    """Diagnose every host, and group findings by common cause.

    Hosts that cannot be reached are listed too. Each host is compared with those of the same cards
    and the same `role`.
    """
    # Only here: what judges hosts takes longer to load than a help.
    from wirespeed.report.fleet_text import fleet_lines
    from wirespeed.runs.fleet_doctor import FleetRequest, fleet_doctor, keep_in_database

    question = Question(purpose=Purpose(purpose) if purpose else None, frame_bytes=frame_bytes)
    fleet, folder = fleet_doctor(FleetRequest(question, **asked))
    number = keep_in_database(fleet, database)
    if as_json:
        echo(fleet.model_dump_json())
    else:
        print_lines(fleet_lines(fleet, verbose=verbose))
        echo(f"\nkept in {folder}{f', as run {number}' if number else ''}")
    return fleet.exit_code
