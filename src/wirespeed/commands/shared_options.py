"""Options that several commands have: of hosts that are locked, and of undo."""

from collections.abc import Callable
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
