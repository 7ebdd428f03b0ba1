"""A command as data, and the one place that quotes it for a person to read or paste."""

import shlex

from wirespeed.model.frozen import Frozen


class Command(Frozen):
    """One command of a host. It is never run through a shell by us."""

    argv: tuple[str, ...]
    stdin: str | None = None
    """What is written to it, without the line end; `tee` with it writes a sysfs file."""

    def line(self) -> str:
        """Give it as a line for a POSIX shell."""
        quoted = shlex.join(self.argv)
        return quoted if self.stdin is None else f"echo {shlex.quote(self.stdin)} | {quoted}"


def write_file(path: str, content: str) -> Command:
    """Make the command that writes a sysfs or procfs file."""
    return Command(argv=("tee", path), stdin=content)
