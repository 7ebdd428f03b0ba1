"""How a run that stands on a host is told of, and undone: by a folder here, or the host's copy."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from wirespeed.apply.copy_folder import folder_here
from wirespeed.apply.found_copy import FoundCopy, plan_of, rebuilt
from wirespeed.apply.host_copy import said_of
from wirespeed.apply.run import read_told
from wirespeed.apply.tryout_notes import digest_of
from wirespeed.catalog import read_step
from wirespeed.model.error import LeftChangedError
from wirespeed.model.journal import outcome
from wirespeed.model.journal_salvage import undoable
from wirespeed.model.shown import shown
from wirespeed.model.spec.spec import Spec
from wirespeed.report.plan_text import salvage_lines, status_lines
from wirespeed.runs.named_host import whose


@dataclass(frozen=True, slots=True)
class Way:
    """The way back of one run on one host."""

    copy: FoundCopy
    folder: Path | None
    """Its run folder, where that is here and says all that the copy says."""
    journal: list[str]
    """Else the journal that is made of the copy."""

    @classmethod
    def of(cls, copy: FoundCopy, spec: Spec) -> Self:
        """Find it. Raises InputError `run.is_here`, LeftChangedError `copy.not_a_journal`."""
        folder = folder_here(copy)
        return cls(copy, folder, [] if folder else rebuilt(copy, spec))

    @property
    def is_known_undone(self) -> bool:
        """Tell whether the folder here says that it is undone, which the host does not know."""
        return self.folder is not None and outcome(read_told(self.folder).entries) == "undone"

    def lines(self) -> Iterator[str]:
        """Tell whose it is, and of its steps."""
        yield whose(self.copy)
        if self.folder is not None:
            yield f"  its run folder is here: {self.folder}"
            return
        yield from _journal_lines(self.copy, self.journal)


def told_copy(
    copy: FoundCopy, spec: Spec, left: Collection[str] | None = None
) -> tuple[str, list[str]]:
    """Give the outcome of a copy's run, as `journal.outcome`, and lines that describe it.

    `left`: digests of the steps that the host left alone when it undid the run by itself; None: it
    did not.
    """
    try:
        journal = rebuilt(copy, spec)
    except LeftChangedError as error:
        return "not readable", [whose(copy), f"  {error.found}"]
    lines = [whose(copy), *_journal_lines(copy, journal)]
    if left is not None:
        lines.append("the host has undone it by itself, as it was not confirmed in time")
        for number, step in enumerate(plan_of(journal)[0].steps, 1):
            if digest_of(read_step(step.step)) in left:
                why = "others changed it, or what hangs together with it"
                lines.append(f"it left step {number} {shown(step.name)} alone: {why}")
    return copy.outcome, lines


def _journal_lines(copy: FoundCopy, journal: list[str]) -> Iterator[str]:
    plan, told = plan_of(journal)
    if copy.told and copy.told.damage:
        yield f"  the copy is damaged: {said_of(copy.told)}"
        yield from salvage_lines(plan, undoable(plan, told))
    else:
        yield from status_lines(plan, told.entries, outcome(told.entries))
