"""A network namespace of a host, as a place where commands run."""

from collections.abc import Sequence

from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed, Runner
from wirespeed.model.names import NamespaceName


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
