"""What was done to the hosts, line by line, and durable before it is done. Pure.

    begun    the whole plan
    intent   step N is about to be written; `before` is what stood there
    result   a fresh reading after the write: verified, contradicted, cannot verify, failed
    undoing  step N is about to be put back
    undone   a fresh reading after that
    ended

Every state in which a kill can leave a host follows from the lines that are there: `progress`.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from wirespeed.model.command import Command
from wirespeed.model.frozen import Frozen
from wirespeed.model.plan import Plan
from wirespeed.model.step import State


class Verified(StrEnum):
    """What a fresh reading says after a write. Only the first is called done."""

    VERIFIED = "verified"
    CONTRADICTED = "contradicted"
    CANNOT_VERIFY = "cannot verify"
    FAILED = "failed"
    """A command of the step failed; what it left is in `now`."""


class Begun(Frozen):
    """First line of a run."""

    kind: Literal["begun"] = "begun"
    at: str
    plan: Plan


class Intent(Frozen):
    """Step `number` is about to be written."""

    kind: Literal["intent"] = "intent"
    number: int
    before: State
    undo: tuple[Command, ...]


class Result(Frozen):
    """What became of it."""

    kind: Literal["result"] = "result"
    number: int
    verdict: Verified
    now: State | None
    said: str = ""
    """The failed command's words, or why nothing could be read."""


class Undoing(Frozen):
    """Step `number` is about to be put back."""

    kind: Literal["undoing"] = "undoing"
    number: int


class Undone(Frozen):
    """What became of that."""

    kind: Literal["undone"] = "undone"
    number: int
    verdict: Verified
    now: State | None
    said: str = ""


class Ended(Frozen):
    """Last line of a run that came to its end."""

    kind: Literal["ended"] = "ended"
    at: str
    outcome: Literal["applied", "undone", "left changed"]


Entry = Annotated[Begun | Intent | Result | Undoing | Undone | Ended, Field(discriminator="kind")]
ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


class StepProgress(StrEnum):
    """How far one step came."""

    UNTOUCHED = "untouched"
    MAYBE_WRITTEN = "maybe written"
    """Its intent is there and no good result: it may stand in either state, or between them."""
    DONE = "done"
    UNDONE = "undone"


def progress(plan: Plan, entries: Iterable[Entry]) -> list[StepProgress]:
    """Tell how far each step of the plan came."""
    found = [StepProgress.UNTOUCHED] * len(plan.steps)
    for entry in entries:
        if isinstance(entry, Intent | Undoing):
            found[entry.number] = StepProgress.MAYBE_WRITTEN
        elif isinstance(entry, Result) and entry.verdict is Verified.VERIFIED:
            found[entry.number] = StepProgress.DONE
        elif isinstance(entry, Undone) and entry.verdict is Verified.VERIFIED:
            found[entry.number] = StepProgress.UNDONE
    return found
