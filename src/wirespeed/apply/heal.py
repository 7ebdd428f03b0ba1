"""A run whose journal is damaged, made whole by the copies on its hosts."""

from collections.abc import Sequence
from dataclasses import replace

from wirespeed.apply.found_copy import made_again
from wirespeed.apply.host_copy import HostCopy
from wirespeed.apply.journal_damage import UNFIT
from wirespeed.apply.run import Run
from wirespeed.model.journal_heal import healed
from wirespeed.model.journal_lines import JournalText, read_journal_text


def heal(run: Run, copies: Sequence[HostCopy]) -> int:
    """Write a damaged journal again with what the copies say; give the lines that were added.

    The hosts are locked for the run. Nothing is written where the copies add nothing, and the
    journal is not whole by them.
    """
    found = {copy.place: told for copy in copies if (told := _readable(copy, run)) is not None}
    try:
        made = healed(run.told, found, run.id)
    except UNFIT:
        return 0
    if made is None or (not made.added and made.lost == run.told.lost and made.lost):
        return 0
    run.rewrite(made.entries, made.lost)
    for copy in copies:
        if copy.place in found:
            copy.found(copy.text, is_taken=True)
    return made.added


def _readable(copy: HostCopy, run: Run) -> JournalText | None:
    """Give what a copy says, with no command that stands in it; None: nothing of this release."""
    if copy.text is None:
        return None
    told = read_journal_text(copy.text.encode())
    try:
        return replace(told, entries=tuple(made_again(told, copy.run, copy.place, run.spec)))
    except UNFIT:
        return None
