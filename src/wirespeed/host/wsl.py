"""The Linux of WSL 2, reached by its Windows."""

from collections.abc import Sequence

from wirespeed.host.runner import MAX_OUTPUT_BYTES, ByNetwork, Completed, Runner

WSL = ("wsl.exe", "--user", "root", "--exec")
SHUTDOWN = ("wsl.exe", "--shutdown")
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./")


class WslRunner:
    """The `Runner` of the Linux that wsl.exe starts on the Windows host of `windows`, as root.

    The user's default distribution: the virtual machine is started if it is not up.
    """

    def __init__(self, windows: Runner) -> None:
        self._windows = windows

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        """See `Runner.run`. Words that a shell of Windows could read otherwise are refused."""
        if not all(word and PLAIN.issuperset(word) for word in argv):
            raise AssertionError(f"{argv}: what is not plain goes in a script")
        return self._windows.run(
            (*WSL, *argv), timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes
        )

    def renew(self) -> None:
        """See `ByNetwork.renew`."""
        if isinstance(self._windows, ByNetwork):
            self._windows.renew()

    def shut_down(self, timeout_s: float) -> None:
        """Shut WSL down: every distribution of it, with all that runs there."""
        self._windows.run(SHUTDOWN, timeout_s=timeout_s)
