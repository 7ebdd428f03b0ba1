"""What the rest of the program asks of a host: run one command to its end."""

from collections.abc import Sequence
from typing import Protocol

from wirespeed.model.frozen import Frozen


class Completed(Frozen):
    """A command that ended by itself. A return code other than 0 is the caller's to judge."""

    argv: tuple[str, ...]
    output: str
    errors: str
    returncode: int
    """Exit code; -N when signal N ended it."""
    duration_s: float


class Runner(Protocol):
    """Runs commands on one host."""

    def run(self, argv: Sequence[str], *, timeout_s: float = 60.0) -> Completed:
        """Run `argv` (never a shell string) without input, and wait at most `timeout_s`.

        Raises InputError `command.missing` when the program is not there, MeasurementError
        `command.timeout` when it had to be killed.
        """
        ...
