"""What the rest of the program asks of a host, or of a namespace: run one command to its end."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from wirespeed.model.frozen import Frozen
from wirespeed.model.names import NamespaceName

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


class NamespaceRunner:
    """The `Runner` of a namespace: the host's, with `ip netns exec` before every command."""

    def __init__(self, host: Runner, namespace: NamespaceName) -> None:
        self._host, self._namespace = host, namespace

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        """See `Runner.run`."""
        there = ("ip", "netns", "exec", self._namespace, *argv)
        return self._host.run(there, timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes)
