"""Which steps of a damaged journal can still be undone. Pure.

Undo needs two lines: the beginning of the stage, for the plan, and the step's intent, for what
stood there. The steps of a plan are done in its order: one that no line names may be on a lost
line where it stands before another that was begun, or among the next that were to be done.
"""

from collections.abc import Sequence
from enum import StrEnum

from wirespeed.model.journal import Entry, Intent, StepProgress, Stood, progress
from wirespeed.model.journal_lines import JournalText
from wirespeed.model.plan import Plan


class Undoable(StrEnum):
    """What undo can do for a step."""

    NOTHING_TO_UNDO = "nothing to undo"
    YES = "can be undone"
    NO = "cannot be undone"
    """It was begun, and the line that says what stood there before is lost."""
    NOT_KNOWN = "not known"
    """No line names it, and a lost one may have: it may be written."""


def undoable(plan: Plan, told: JournalText) -> list[Undoable]:
    """Tell for each step of the plan."""
    reached = progress(plan, told.entries)
    intents = {entry.number for entry in told.entries if isinstance(entry, Intent)}
    named = intents | {_number(entry) for entry in told.entries} - {-1}
    todo = [number for number, planned in enumerate(plan.steps) if not planned.no_op]
    may_be = _on_lost_lines(todo, named, told.lost)
    return [
        _of_step(
            reached[number],
            is_todo=not planned.no_op,
            has_intent=number in intents,
            is_named=number in named,
            may_be_lost=number in may_be,
        )
        for number, planned in enumerate(plan.steps)
    ]


def _on_lost_lines(todo: Sequence[int], named: set[int], lost: int) -> set[int]:
    if not lost:
        return set()
    last = max(named, default=-1)
    after = [number for number in todo if number > last]
    return {number for number in todo if number < last and number not in named} | set(after[:lost])


def _of_step(
    reached: StepProgress, *, is_todo: bool, has_intent: bool, is_named: bool, may_be_lost: bool
) -> Undoable:
    if reached in (StepProgress.UNDONE, StepProgress.FORGOTTEN):
        return Undoable.NOTHING_TO_UNDO
    if has_intent:
        return Undoable.YES
    if is_named and is_todo:
        return Undoable.NO
    return Undoable.NOT_KNOWN if may_be_lost else Undoable.NOTHING_TO_UNDO


def _number(entry: Entry) -> int:
    """Give the step that an entry is about; -1: about none, or about all."""
    return -1 if isinstance(entry, Stood) else int(getattr(entry, "number", -1))
