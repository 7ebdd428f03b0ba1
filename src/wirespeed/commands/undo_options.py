"""`--force` and `--forget`: what undo does with what others have changed, and with lost devices."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def undo_options(command: F) -> F:
    """Give a command `--force` and `--forget`."""
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
