"""What the rest of the program asks of a host: run one command to its end."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from wirespeed.model.frozen import Frozen

MAX_OUTPUT_BYTES = 64 << 20
"""Of standard output and of standard error each, unless the caller sets another limit."""


class Completed(Frozen):
    """A command that ended. A return code other than 0 is the caller's to judge."""

    argv: tuple[str, ...]
    output: str
    errors: str
    returncode: int
    """Exit code; -N when signal N ended it."""
    duration_s: float
    cut: bool = False
    """It printed more than the limit: the rest is left out, and it was ended."""


class Runner(Protocol):
    """Runs commands on one host."""

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        """Run `argv` (never a shell string), and wait at most `timeout_s`.

        `stdin` is all of its input, None for no input. Output beyond `max_bytes` is cut and ends
        the command. Raises InputError `command.missing` when the program is not there,
        MeasurementError `command.timeout` when it had to be killed.
        """
        ...


@runtime_checkable
class ByNetwork(Protocol):
    """A runner with a connection to its host, which can be lost."""

    def renew(self) -> None:
        """Let the next command go by a connection that is made then."""
        ...
