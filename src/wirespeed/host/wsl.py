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
        done = self._windows.run(
            (*WSL, *argv), timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes
        )
        return done.model_copy(update={"output": _said(done.output), "errors": _said(done.errors)})

    def renew(self) -> None:
        """See `ByNetwork.renew`."""
        if isinstance(self._windows, ByNetwork):
            self._windows.renew()

    def shut_down(self, timeout_s: float) -> None:
        """Shut WSL down: every distribution of it, with all that runs there."""
        self._windows.run(SHUTDOWN, timeout_s=timeout_s)


def _said(text: str) -> str:
    """Give what wsl.exe itself says, which is UTF-16 unless WSL_UTF8 is set; all else as it is.

    Its English letters, and the code at the end, are what is left of it as UTF-8.
    """
    if text[1:2] != "\0":
        return text
    lines = text.replace("\0", "").replace("\r", "").splitlines()
    return " ".join(filter(None, map(str.strip, lines)))
