"""What was done to the hosts, line by line, and durable before it is done. Pure.

    begun    the plan of a stage; each further stage has one, and its steps' numbers go on
    intent   step N is about to be written; `before` is its state until then
    result   a fresh reading after the write: verified, contradicted, cannot verify, failed
    stood    how all that was done was left, by one more reading
    staged   a stage is done; hosts may have to be rebooted before the next
    undoing  step N is about to be undone
    undone   a fresh reading after that
    forgotten  step N is not undone: it stays as it is
    ended

Every state in which a kill can leave a host follows from the lines that are there: `progress`.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import chain
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from wirespeed.model.command import Command
from wirespeed.model.frozen import Frozen
from wirespeed.model.plan import Plan
from wirespeed.model.spec.members import AnySpec
from wirespeed.model.step import State


class Verified(StrEnum):
    """What a fresh reading says after a write. Only the first is called done."""

    VERIFIED = "verified"
    CONTRADICTED = "contradicted"
    CANNOT_VERIFY = "cannot verify"
    FAILED = "failed"
    """A command of the step failed; what it left is in `now`."""
    CHANGED_MEANWHILE = "changed meanwhile"
    """Nothing was written: its state was no longer the one that the change leads from."""
    CUT_OFF = "cut off"
    """It took the way to the host with it, and the host undid it itself."""


class Begun(Frozen):
    """First line of a run, and of each of its stages."""

    kind: Literal["begun"] = "begun"
    at: str
    plan: Plan
    boot_ids: dict[str, str] = Field(default_factory=dict)
    """Of each host when it was taken for this stage: another one means that it was rebooted."""
    spec: AnySpec | None = None
    """What it was made from: how its hosts are reached."""
    run: str = ""
    """The random id of the run folder, by which hosts know it; empty: of an older wirespeed."""
    try_s: int = 0
    """Hosts take all of it back unless it is confirmed within these seconds; 0: it stays."""


class Intent(Frozen):
    """Step `number` is about to be written."""

    kind: Literal["intent"] = "intent"
    number: int
    before: State
    undo: tuple[Command, ...]
    goal: State | None = None
    """Where it leads, by what was read when its turn came; None: as the plan says."""


class Result(Frozen):
    """What became of it."""

    kind: Literal["result"] = "result"
    number: int
    verdict: Verified
    now: State | None
    said: str = ""
    """The failed command's words, or why nothing could be read."""


class Stood(Frozen):
    """What a reading of all steps says after the last one: a later step may alter an earlier one's.

    It is what `drift` compares with. After an undo: how the run had left what others changed.
    """

    kind: Literal["stood"] = "stood"
    states: dict[int, State]
    """By number of the step; what could not be read is not among them."""


class Staged(Frozen):
    """A stage is done, and the run goes on with another."""

    kind: Literal["staged"] = "staged"
    at: str
    waits: dict[str, str]
    """Hosts that are to be rebooted first, each with its boot id before."""


class Undoing(Frozen):
    """Step `number` is about to be undone."""

    kind: Literal["undoing"] = "undoing"
    number: int


class Undone(Frozen):
    """What became of that."""

    kind: Literal["undone"] = "undone"
    number: int
    verdict: Verified
    now: State | None
    said: str = ""


class Forgotten(Frozen):
    """Step `number` is not undone: its device is gone for good, or others' value stays."""

    kind: Literal["forgotten"] = "forgotten"
    number: int


class Ended(Frozen):
    """Last line of a run that came to its end."""

    kind: Literal["ended"] = "ended"
    at: str
    outcome: Literal["applied", "unconfirmed", "undone", "left changed"]
    """`unconfirmed`: applied, and the hosts take it back unless `applied` follows in time."""


Entry = Annotated[
    Begun | Intent | Result | Stood | Staged | Undoing | Undone | Forgotten | Ended,
    Field(discriminator="kind"),
]
ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


class StepProgress(StrEnum):
    """How far one step came."""

    UNTOUCHED = "untouched"
    MAYBE_WRITTEN = "maybe written"
    """Its intent is there and no good result: it may stand in either state, or between them."""
    DONE = "done"
    UNDONE = "undone"
    FORGOTTEN = "forgotten"


def whole_plan(entries: Iterable[Entry]) -> Plan | None:
    """Give all stages that were begun as one plan; None: nothing was."""
    begun = [entry.plan for entry in entries if isinstance(entry, Begun)]
    if not begun:
        return None
    return Plan(steps=tuple(chain.from_iterable(p.steps for p in begun)), later=begun[-1].later)


def written(entries: Sequence[Entry]) -> list[Entry]:
    """Leave out the tries by which nothing was written: a step is as it was before such a one."""
    left_out: set[int] = set()
    begun: dict[int, int] = {}
    for at, entry in enumerate(entries):
        if isinstance(entry, Intent | Undoing):
            begun[entry.number] = at
        elif isinstance(entry, Result | Undone) and entry.verdict is Verified.CHANGED_MEANWHILE:
            left_out |= {at, begun.pop(entry.number, at)}
    return [entry for at, entry in enumerate(entries) if at not in left_out]


def tried_s(entries: Iterable[Entry]) -> int:
    """Give the seconds within which a run is to be confirmed; 0: it stays as it is."""
    return next((e.try_s for e in entries if isinstance(e, Begun)), 0)


def progress(plan: Plan, entries: Sequence[Entry]) -> list[StepProgress]:
    """Tell how far each step of the plan came."""
    found = [StepProgress.UNTOUCHED] * len(plan.steps)
    for entry in written(entries):
        advance(found, entry)
    return found


def advance(found: list[StepProgress], entry: Entry) -> None:
    """Add one more entry to what `progress` found."""
    if isinstance(entry, Intent | Undoing):
        found[entry.number] = StepProgress.MAYBE_WRITTEN
    elif isinstance(entry, Result) and entry.verdict is Verified.VERIFIED:
        found[entry.number] = StepProgress.DONE
    elif isinstance(entry, Undone) and entry.verdict is Verified.VERIFIED:
        found[entry.number] = StepProgress.UNDONE
    elif isinstance(entry, Forgotten):
        found[entry.number] = StepProgress.FORGOTTEN


def outcome(entries: Sequence[Entry]) -> str:
    """Give `applied`, `unconfirmed`, `undone`, `left changed`; `staged`, `unfinished`, `new`."""
    if not entries:
        return "new"
    last = entries[-1]
    if isinstance(last, Staged):
        return "staged"
    return last.outcome if isinstance(last, Ended) else "unfinished"
