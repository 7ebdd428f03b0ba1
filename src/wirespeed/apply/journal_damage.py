"""What is said of a journal that is not as it was written: exit code 3, hosts may be changed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from wirespeed.catalog import read_step
from wirespeed.model.error import InputError, LeftChangedError
from wirespeed.model.journal import Intent, whole_plan
from wirespeed.model.journal_lines import JournalText
from wirespeed.model.journal_salvage import Undoable, undoable
from wirespeed.model.plan import Plan

MOST_NAMED = 4
HERE = "cannot, as the journal has lost the original state; the host's copy may have it"
NOWHERE = "cannot be undone, as the original state is lost, and no host's copy has it"
UNFIT = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    InputError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a step may raise for a state that no reading of it can give."""


def refuse_damage(folder: Path, told: JournalText) -> None:
    """Raise LeftChangedError `run.damaged` where lines are."""
    if told.damage:
        raise damaged(folder, told)


def is_settled(told: JournalText) -> bool:
    """Tell whether nothing is in force, whatever a spoilt line said."""
    ways = undoable(whole_plan(told.entries) or Plan(steps=()), told)
    return all(way is Undoable.NOTHING_TO_UNDO for way in ways)


def damaged(folder: Path, told: JournalText) -> LeftChangedError:
    """Give the error of a journal with a beginning: what is spoilt, and what can be undone."""
    plan = whole_plan(told.entries) or Plan(steps=())
    ways = undoable(plan, told)
    can = ways.count(Undoable.YES)
    return LeftChangedError(
        "run.damaged",
        where=f"{folder}/journal.jsonl",
        found=_spoilt(told),
        so="; ".join(
            [f"by this journal {can} steps can still be undone", *_not_undoable(plan, ways, HERE)]
        ),
        next=f"`wirespeed status {folder}` lists every step; `wirespeed undo {folder}` takes what "
        "is lost from the copies on the Linux hosts, and undoes all that is known then",
    )


def not_put_back(folder: Path, told: JournalText, plan: Plan) -> LeftChangedError | None:
    """Give the error that is left when what can be undone is; None: nothing else was begun."""
    ways = undoable(plan, told)
    left = [n for n, way in enumerate(ways) if way in (Undoable.NO, Undoable.NOT_KNOWN)]
    if not left:
        return None
    return LeftChangedError(
        "run.damaged",
        where=f"{folder}/journal.jsonl",
        found=_spoilt(told),
        so="; ".join(["what can be undone was undone", *_not_undoable(plan, ways, NOWHERE)]),
        next="check the present state: "
        + "; ".join(
            f"{plan.steps[n].read.line()} (on {plan.steps[n].host})" for n in left[:MOST_NAMED]
        )
        + "\nwhere it is not as it was: "
        + "; ".join(c.line() for n in left[:MOST_NAMED] for c in plan.steps[n].undo)
        + f"\nthen remove {folder}",
    )


def refuse_no_beginning(path: Path, told: JournalText, begun_at: str | None) -> NoReturn:
    """Raise LeftChangedError `run.not_a_journal`: nothing tells which steps there are."""
    known = f"{told.size_bytes} bytes, {told.lines} whole lines"
    if told.torn_bytes:
        known += f", {told.torn_bytes} bytes after the last whole line"
    if told.damage:
        known += f"; {_spoilt(told)}"
    if begun_at:
        known += f"; a run began at {begun_at}, as run.json there says"
    raise LeftChangedError(
        "run.not_a_journal",
        where=str(path),
        found=f"it has no beginning: {known}",
        so="hosts may have been changed, and the journal does not say how; wirespeed did not "
        "touch it",
        next="run `wirespeed undo HOST` for each Linux host, which uses the host's own copy; "
        f"otherwise restore {path} from a backup, or restore the hosts by hand; then remove "
        f"{path.parent}",
    )


def refuse_unfit_steps(path: Path, told: JournalText) -> None:
    """Raise LeftChangedError `run.not_a_journal` for a step that this release cannot undo.

    It does not have such a step, or no reading of one gives the states that are said of it.
    """
    plan = whole_plan(told.entries) or Plan(steps=())
    steps = []
    for number, planned in enumerate(plan.steps, 1):
        try:
            steps.append(read_step(planned.step))
        except (InputError, ValueError):
            found = f"this release does not know step {number} of its plan"
            raise _not_of_this_release(path, found) from None
    ways = [(n, one.before, one.goal) for n, one in enumerate(plan.steps)]
    for entry in told.entries:
        if isinstance(entry, Intent):
            goal = plan.steps[entry.number].goal if entry.goal is None else entry.goal
            ways.append((entry.number, entry.before, goal))
    for n, before, goal in ways:
        try:
            if before is not None:
                steps[n].change(before, goal)
                steps[n].change(goal, before)
        except UNFIT:
            found = f"no reading gives the states of step {n + 1} ({plan.steps[n].name})"
            raise _not_of_this_release(path, found) from None


def _not_of_this_release(path: Path, found: str) -> LeftChangedError:
    return LeftChangedError(
        "run.not_a_journal",
        where=str(path),
        found=found,
        so="hosts may have been changed, and this release cannot undo it",
        next="use the wirespeed release that wrote it",
    )


def _spoilt(told: JournalText) -> str:
    said = [f"line {one.line}: {one.found}" for one in told.damage[:MOST_NAMED]]
    if len(told.damage) > MOST_NAMED:
        said.append(f"and {len(told.damage) - MOST_NAMED} more")
    return "; ".join([*said, f"{len(told.entries)} of {told.lines} lines are readable"])


def _not_undoable(plan: Plan, ways: Sequence[Undoable], lost: str) -> Iterator[str]:
    for way, why in (
        (Undoable.NO, lost),
        (Undoable.NOT_KNOWN, "may be written, as a lost line may say so"),
    ):
        names = [
            f"step {n} ({plan.steps[n - 1].name} on {plan.steps[n - 1].host})"
            for n, one in enumerate(ways, 1)
            if one is way
        ]
        if names:
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            yield f"{', '.join(names[:MOST_NAMED])}{more} {why}"
