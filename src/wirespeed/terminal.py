"""The one place that writes to the terminal: what steers one never passes.

Nothing else calls `click.echo` or `click.confirm`; tests/tidy_rules.py holds that.
"""

import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO

import click

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.model.error import InputError
from wirespeed.model.shown import printable

STDOUT, STDERR = 1, 2
READER_S = 10
"""How long a reader that takes nothing is waited for."""
WIPE = "\r\x1b[K"
"""Back to the first column, and the line is empty."""


class _Lasting(io.FileIO):
    """A standard stream that goes nowhere once it cannot be written: no reader, a full disk.

    `ends`: what is wanted is what is printed, and the command ends where that is lost.
    """

    def __init__(self, number: int, *, ends: bool) -> None:
        super().__init__(number, "w", closefd=False)
        self._ends = ends

    def write(self, data: Any, /) -> int:
        try:
            written = super().write(data)
            latest = Deadline(READER_S)
            while written is None:  # A pipe that does not block, and is full.
                if latest.expired:
                    raise BlockingIOError(errno.EAGAIN, f"its reader took nothing for {READER_S} s")
                sleep_s(0.05)
                written = super().write(data)
            return written
        except OSError as error:
            if self._ends and error.errno == errno.EPIPE:
                raise  # As click ends it.
            self._lose(error)
            return len(data)

    def _lose(self, error: OSError) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)
        lost = InputError(
            "output.unwritable",
            where="standard output",
            found=str(error),
            so="what was to be printed is lost from there on",
            next="make room on its disk, or send the output elsewhere; then run the command again",
        )
        if self._ends:
            raise lost
        if self.fileno() == STDOUT and error.errno != errno.EPIPE:
            echo(
                f"{lost.where}: {lost.found}: {lost.so}; the command goes on, and its exit code is "
                "that of the hosts",
                err=True,
            )


def outlive_streams(*, changes_hosts: bool) -> None:
    """Let a command that changes hosts go on when what it prints cannot be written any more.

    `apply | head`, or a disk that is full, ends no change halfway. Another command ends with
    InputError `output.unwritable`, or as click ends it where its reader is gone; its standard
    error may be lost.
    """
    for number, name in ((STDOUT, "stdout"), (STDERR, "stderr")):
        stream = getattr(sys, name)
        try:
            is_own = stream.fileno() == number
        except (AttributeError, io.UnsupportedOperation):
            is_own = False
        if not is_own:
            continue
        ends = number == STDOUT and not changes_hosts
        again = io.TextIOWrapper(
            io.BufferedWriter(_Lasting(number, ends=ends)),
            stream.encoding,
            stream.errors,
            line_buffering=stream.line_buffering,
        )
        setattr(sys, name, again)


_sink: ContextVar[Callable[[str], object] | None] = ContextVar("sink", default=None)


@contextmanager
def diverted(sink: Callable[[str], object]) -> Iterator[None]:
    """Hand what this thread prints to `sink` instead: one host of many, which has its own log."""
    token = _sink.set(sink)
    try:
        yield
    finally:
        _sink.reset(token)


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print `text`; what is not printable is written out. `err`: to standard error."""
    if (sink := _sink.get()) is not None:
        sink(printable(text) + ("\n" if nl else ""))
        return
    click.echo(_sayable(printable(text), err=err), err=err, nl=nl)


def open_closed_streams() -> None:
    """Give closed standard streams the null device; else the next file opened would be one."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))


def echo_styled(lines: list[tuple[str, dict[str, Any]]]) -> None:
    """Print lines, each with the style that `click.style` gives it."""
    safe = [(printable(line), style) for line, style in lines]
    text = "\n".join(click.style(line, **style) if style else line for line, style in safe)
    click.echo(_sayable(text, err=False))


def echo_live(text: str) -> None:
    """Put `text` in place of the line that a terminal shows; standard error."""
    click.echo(f"{WIPE}{_sayable(printable(text), err=True)}", nl=False, err=True)


def echo_over(lines: list[str], above: int) -> None:
    """Put lines in place of the `above` lines before the cursor, on a terminal."""
    # CSI n A: up n lines; CSI K: to the end of the line; CSI J: to the end of the screen.
    up = f"\x1b[{above}A\r" if above else ""
    safe = (_sayable(printable(line), err=False) for line in lines)
    click.echo(up + "".join(f"{line}\x1b[K\n" for line in safe) + "\x1b[J", nl=False, color=True)


def confirm(question: str) -> bool:
    """Ask for y or n."""
    return click.confirm(_sayable(printable(question), err=False))


def is_terminal() -> bool:
    """Tell whether a person can be asked."""
    return sys.stdin.isatty()


def takes_escapes(stream: TextIO) -> bool:
    """Tell whether it goes to a terminal that has colours, and a cursor that moves."""
    return stream.isatty() and os.environ.get("TERM") not in {"dumb", "unknown"}


def echo_capture(text: str) -> None:
    """Print a capture as it came: it is read by a program. On a terminal it is made printable."""
    if sys.stdout.isatty():
        echo(text, nl=False)
    else:
        # Else click takes colours out of what goes to no terminal.
        click.echo(text, nl=False, color=True)


def _sayable(text: str, *, err: bool) -> str:
    """Write out letters that the stream's encoding lacks: they must not end in a traceback."""
    encoding = (sys.stderr if err else sys.stdout).encoding or "ascii"
    if encoding.lower().startswith("utf"):
        return text
    # Only here: cli loads this file for every command.
    from wirespeed.report.ledger_bars import ASCII

    text = text.translate(ASCII)
    return text.encode(encoding, "backslashreplace").decode(encoding)
