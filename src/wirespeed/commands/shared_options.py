"""Options that several commands have: of what is applied to one host, of locks, and of undo."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


break_lock = click.option(
    "--break-lock",
    "breaks_lock",
    is_flag=True,
    help="Take a host from another run that is gone for good; what it left armed stays armed.",
)
"""Of every command that locks hosts: to take one that another run has."""


inventory_option = click.option(
    "--inventory",
    "-i",
    multiple=True,
    metavar="FILE",
    help="Inventory, as Ansible takes it: file, folder, script or plugin; may be repeated.",
)
limit_option = click.option(
    "--limit", "-l", metavar="PATTERN", help="Hosts or groups, as Ansible's --limit: 'rack7:!n3'."
)
"""Of every command about a fleet: Ansible's own two."""


def undo_options(command: F) -> F:
    """Give a command `--force` and `--forget`: for what others changed, and for lost devices."""
    force = click.option(
        "--force", is_flag=True, help="Also put back settings that others have changed since."
    )
    forget = click.option(
        "--forget",
        multiple=True,
        metavar="STEP",
        help="Step to leave as it is, for good, because its device is gone: its number, or "
        "`mtu eth0`.",
    )
    return force(forget(command))


def apply_options(command: F) -> F:
    """Give a command the options whose values are the fields of `host_plan.Allowed`."""
    for option in (
        break_lock,
        click.option(
            "--allow-no-undo", is_flag=True, help="Also apply steps that cannot be undone."
        ),
        click.option("--allow-firmware", is_flag=True, help="Also write firmware of a card."),
        click.option(
            "--allow-cutoff", is_flag=True, help="Also change the port that the host is reached by."
        ),
        click.option(
            "--run",
            "folder",
            type=click.Path(path_type=Path),
            help="Folder of the run, with its journal.",
        ),
        click.option("--yes", is_flag=True, help="Do not ask for confirmation."),
        click.option(
            "--apply",
            "is_applied",
            is_flag=True,
            help="Apply the plan; without it the plan is only shown.",
        ),
    ):
        command = option(command)
    return command
