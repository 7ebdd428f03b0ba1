"""A change that a measurement needs for a while, and that goes back by itself if we do not.

    guard started on the host: sleeps, then gives back -> changed -> ... -> given back, guard ended

Whoever is killed, whatever way to the host is lost: the guard gives back when its time is up. It
needs no journal, for it outlives neither the boot nor its seconds, and neither does the change.
"""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from wirespeed.host.guest_script import run_script
from wirespeed.host.runner import Completed, Runner
from wirespeed.model.command import Command
from wirespeed.model.error import LeftChangedError, MeasurementError
from wirespeed.model.shown import shown

PROCESS_AND_GROUP = 2
_WORD_BYTES = 8


@contextmanager
def borrowed(
    runner: Runner,
    where: str,
    change: Sequence[Command],
    give_back: Sequence[Command],
    seconds: int,
) -> Iterator[None]:
    """Make a change on a host or in a guest, and give it back at the end, or after `seconds`.

    `give_back` must be harmless where it was given back before. Raises MeasurementError
    `change.refused` when a command of `change` failed and all is as before, LeftChangedError
    `host.left_changed` when it could not be given back now: the guard tries once more.
    """
    word = f"wirespeed-{secrets.token_hex(_WORD_BYTES)}"
    back = _lines(give_back)
    started = run_script(runner, "guest_lease.sh", (word, str(seconds), _lines(change), back))
    guard = started.output.partition("\n")[0].split()
    if len(guard) != PROCESS_AND_GROUP or not all(map(str.isdecimal, guard)):
        raise MeasurementError(
            "change.refused",
            where=where,
            found=f"nothing there could be started that undoes the change: {said(started)}",
            so="nothing was changed, and nothing was measured",
            next="run `setsid true` there: if it fails, install util-linux",
        )
    try:
        if started.returncode:
            raise MeasurementError(
                "change.refused",
                where=where,
                found=f"{_lines(change)}: {said(started)}",
                so="it was undone, and nothing was measured",
                next="run that command there by hand, and fix what refuses it",
            )
        yield
    finally:
        ended = run_script(runner, "guest_lease_end.sh", (word, *guard, back))
        if ended.returncode:
            raise LeftChangedError(
                "host.left_changed",
                where=where,
                found=said(ended),
                so=f"the host tries once more within {seconds} s",
                next=back.replace("\n", "; "),
            )


def said(done: Completed) -> str:
    """Give the last words of a command, for a person."""
    lines = (done.errors.strip() or done.output.strip()).splitlines()
    return shown(lines[-1]) if lines else f"return code {done.returncode}"


def _lines(commands: Sequence[Command]) -> str:
    return "\n".join(command.line() for command in commands)
