"""A command as data, and the one place that quotes it for a person to read or paste."""

import shlex
from enum import StrEnum
from typing import Self

from pydantic import model_validator

from wirespeed.model.frozen import Frozen
from wirespeed.model.powershell import powershell_line

PRINTF = "printf '%s\\n'"


class Shell(StrEnum):
    """Whose words a command is in."""

    POSIX = "posix"
    POWERSHELL = "powershell"
    """`argv` is a cmdlet with its parameters: model/powershell.py."""
    SWITCH = "switch"
    """`argv` are the lines that are typed at a switch, one after another."""
    VSPHERE = "vsphere"
    """`argv` is a method of the vSphere API, a guest's number, and what it is given."""


class Command(Frozen):
    """One command of a host. On a POSIX host, no shell reads it but to paste it by hand."""

    argv: tuple[str, ...]
    shell: Shell = Shell.POSIX
    stdin: str | None = None
    """What is written to it, without the line end; `tee` with it writes a sysfs file."""

    @model_validator(mode="after")
    def _is_sayable(self) -> Self:
        if self.shell is Shell.POWERSHELL:
            powershell_line(self.argv)
        if self.shell is Shell.SWITCH and not all(word.isprintable() for word in self.argv):
            raise ValueError("a line of a switch is one line")
        if self.shell is not Shell.POSIX and self.stdin is not None:
            raise ValueError("only a command of a POSIX host has an input")
        return self

    def line(self) -> str:
        """Give it as a line for the shell of its host; lines of a switch are joined by ` ; `."""
        if self.shell is Shell.POWERSHELL:
            return powershell_line(self.argv)
        if self.shell is Shell.SWITCH:
            return " ; ".join(self.argv)
        quoted = shlex.join(self.argv)
        return quoted if self.stdin is None else f"{_said(self.stdin)} | {quoted}"


def _said(text: str) -> str:
    """Give the command that prints a text and a line end.

    What `echo` makes of a backslash, and of a first `-`, is another thing in every shell.
    """
    is_plain = "\\" not in text and not text.startswith("-")
    return f"{'echo' if is_plain else PRINTF} {shlex.quote(text)}"


def write_file(path: str, content: str) -> Command:
    """Make the command that writes a sysfs or procfs file."""
    return Command(argv=("tee", path), stdin=content)


AGAIN = """\
for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
	said=$("$0" "$@" 2>&1) && exit
	code=$?
	case $said in
	*'temporarily unavailable'* | *'resource busy'*) sleep 0.5 ;;
	*) break ;;
	esac
done
printf '%s\\n' "$said" >&2
exit "$code"
"""
"""Runs a command until it is not refused as busy (EAGAIN, EBUSY), for some 6 s at most."""


def again_while_busy(command: Command) -> Command:
    """Give a command of a POSIX host that waits where it is refused for the moment alone.

    One with an input, which is read once, stays as it is.
    """
    if command.shell is not Shell.POSIX or command.stdin is not None:
        return command
    return Command(argv=("sh", "-c", AGAIN, *command.argv))
