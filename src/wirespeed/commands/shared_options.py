"""Options that several commands have: of what is applied to one host, of locks, and of undo."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from wirespeed.commands.quantities import FiniteRange
from wirespeed.host.capture_request import TIMEOUT_S
from wirespeed.model.question import Purpose, Question
from wirespeed.model.units import MIN_FRAME_BYTES

MAX_FRAME_BYTES = 16384
F = TypeVar("F", bound=Callable[..., Any])


break_lock = click.option(
    "--break-lock",
    "breaks_lock",
    is_flag=True,
    help="Unlock a host that is locked by a run that is gone for good. Rollback timers of that "
    "run keep running.",
)
"""Of every command that locks hosts: to take one that another run has."""


inventory_option = click.option(
    "--inventory",
    "-i",
    multiple=True,
    metavar="FILE",
    help="Ansible inventory: file or folder of INI, YAML or TOML; may be repeated.",
)
limit_option = click.option(
    "--limit",
    "-l",
    metavar="PATTERN",
    help="Hosts or groups, as with Ansible's --limit: 'rack7:!n3'.",
)
"""Of every command about a fleet: Ansible's own two."""
allow_inventory_code = click.option(
    "--allow-inventory-code",
    is_flag=True,
    help="Also accept an inventory that is a program or names a plugin of Ansible, and run it here "
    "as your user: as root if you are root.",
)
"""Of every command that reads an inventory."""


purpose_option = click.option(
    "--for",
    "purpose",
    type=click.Choice([p.value for p in Purpose]),
    help="Purpose of the ports.",
)
"""Of every command that judges ports."""


def frame_bytes_option(default: int | None) -> Callable[[F], F]:
    """Give a command that judges ports the size of a frame. None: of each port."""
    of_mtu = " [default: full frames of the MTU, or 1518]" if default is None else ""
    return click.option(
        "--frame-bytes",
        default=default,
        show_default=True,
        help=f"Bytes of a frame, with FCS{of_mtu}.",
        type=click.IntRange(MIN_FRAME_BYTES, MAX_FRAME_BYTES),
    )


def size_asked(frame_bytes: int | None) -> dict[str, Any]:
    """Give the fields of a Question that say the size of a frame."""
    if frame_bytes is None:
        return {"frame_bytes": Question().frame_bytes, "frame_of_mtu": True}
    return {"frame_bytes": frame_bytes}


timeout_option = click.option(
    "--timeout",
    "timeout_s",
    default=TIMEOUT_S,
    show_default=True,
    type=FiniteRange(1, 3600),
    help="Seconds to wait for each host, in addition to --seconds.",
)


def seconds_option(default: int) -> Callable[[F], F]:
    """Give a command that reads hosts the time between its two readings of what is counted."""
    return click.option(
        "--seconds",
        default=default,
        show_default=True,
        type=click.IntRange(0, 3600),
        help="Seconds over which drops and errors are counted.",
    )


def undo_options(command: F) -> F:
    """Give a command `--force` and `--forget`: for what others changed, and for lost devices."""
    force = click.option(
        "--force", is_flag=True, help="Also undo settings that others have changed since."
    )
    forget = click.option(
        "--forget",
        multiple=True,
        metavar="STEP",
        help="Step never to undo, because its device is gone: its number, or `mtu eth0`.",
    )
    return force(forget(command))


def apply_options(command: F) -> F:
    """Give a command the options whose values are the fields of `host_plan.Allowed`."""
    for option in (
        break_lock,
        click.option(
            "--allow-no-undo", is_flag=True, help="Also apply steps that cannot be undone."
        ),
        click.option("--allow-firmware", is_flag=True, help="Also write a card's firmware."),
        click.option(
            "--allow-cutoff",
            is_flag=True,
            help="Also change the port through which wirespeed reaches the host.",
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
            help="Apply the plan; without this option the plan is only shown.",
        ),
    ):
        command = option(command)
    return command
