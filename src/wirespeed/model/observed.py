"""What was read of a host: a value, its absence, or why it could not be read. Never a default."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")
U = TypeVar("U")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Known(Generic[T_co]):
    """A value that the host gave."""

    value: T_co
    source: str
    """The command that reads it again, as a line for a shell."""


@dataclass(frozen=True, slots=True)
class Absent:
    """It was looked for and is not there: no such file, or a tool says *not supported*."""

    source: str
    reason: str = "not there"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Not known: the tool is missing, permission was denied, or its output makes no sense."""

    reason: str
    source: str
    """The command that would tell."""


CUT_OFF = "the reading was cut off"
"""The reason of what a host was asked for and did not come to say."""

Observed: TypeAlias = Known[T] | Absent | Unreadable


class CannotTellError(Exception):
    """A rule lacks a fact. The doctor turns it into a verdict, with the command that would tell."""

    def __init__(self, reason: str, would_tell: str) -> None:
        super().__init__(reason)
        self.reason, self.would_tell = reason, would_tell


def known(observed: Observed[T], what: str) -> T:
    """Give the value, or raise CannotTellError; `what` names it, as in `the width of the slot`."""
    if isinstance(observed, Known):
        return observed.value
    raise CannotTellError(f"{what}: {observed.reason}", observed.source)


def value_or_none(observed: Observed[T]) -> T | None:
    """Give the value; None when it is absent. Raises CannotTellError when it is not known."""
    if isinstance(observed, Unreadable):
        raise CannotTellError(observed.reason, observed.source)
    return observed.value if isinstance(observed, Known) else None


def read_as(observed: Observed[T], convert: Callable[[T], U]) -> Observed[U]:
    """Give what `convert` makes of the value; Unreadable where it raises ValueError.

    As in `read_as(text, int)`: what is absent or unreadable stays so, with its reason.
    """
    if not isinstance(observed, Known):
        return observed
    try:
        return Known(convert(observed.value), observed.source)
    except ValueError as error:
        return Unreadable(f"it makes no sense: {str(error)[:120]}", observed.source)
