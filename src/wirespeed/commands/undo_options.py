"""What undo does where something is neither as the run left it nor as it was before."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class HowUndone:
    """As the user says."""

    force: bool = False
    """What others changed is put back too."""
    forget: tuple[str, ...] = ()
    """Steps that are let go, by number, or by kind and subject."""


AS_EVER = HowUndone()


def undo_options(command: F) -> F:
    """Give a command `--force` and `--forget`."""
    force = click.option(
        "--force", is_flag=True, help="Also put back what others have changed since."
    )
    forget = click.option(
        "--forget",
        multiple=True,
        metavar="STEP",
        help="Leave a step as it is, for good: its device is gone. A number, or 'mtu eth0'.",
    )
    return force(forget(command))
