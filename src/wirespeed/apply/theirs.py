"""What undo leaves alone: what others changed since, and what hangs together with it. Pure.

a step below it      made, moved or renamed what it is about: to undo that would take it away
a step above it      is about what it made, which is another thing by now

Hanging together is being made: two settings of one port do not depend on each other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wirespeed.apply.record import BEGUN, Record
from wirespeed.catalog import read_step
from wirespeed.model.step import State


@dataclass(frozen=True, slots=True)
class Theirs:
    """A step that is left alone."""

    now: State | None
    """What stands there, of one that others changed; None: not known, or as it was left."""
    because: int | None = None
    """Number of the step that it hangs together with; None: others changed it itself."""


def with_dependents(record: Record, found: Mapping[int, State | None]) -> dict[int, Theirs]:
    """Give these steps, and all steps in place that depend on one of them."""
    theirs = {number: Theirs(now) for number, now in found.items()}
    waiting = list(found)
    while waiting:
        number = waiting.pop()
        for other in hanging(record, number):
            if other not in theirs:
                theirs[other] = Theirs(None, because=number)
                waiting.append(other)
    return theirs


def foreign_keys(now: State, *known: State | None) -> list[str]:
    """Give the keys of a state whose value is in none of the states that are known.

    A value that was set back to its original is not foreign: undo would set the same.
    """
    states = [state for state in known if state is not None]
    return [key for key in now if all(key not in s or s[key] != now[key] for s in states)]


def hanging(record: Record, number: int) -> Iterator[int]:
    """Give the steps in place that hang together with a step."""
    for other, came in enumerate(record.came):
        if came not in BEGUN or record.intent(other) is None or not record.near(other, number):
            continue
        below, above = sorted((other, number))
        # What was there before all makers of the run was made by none of them.
        if below != above and _is_maker(record, below) and _is_on(record, above, below):
            yield other


def _is_maker(record: Record, number: int) -> bool:
    return read_step(record.plan.steps[number].step).is_maker


def _is_on(record: Record, above: int, below: int) -> bool:
    """Tell whether a later step is about what an earlier one made: it was not there before."""
    planned = record.plan.steps[above]
    if planned.host != record.plan.steps[below].host:
        return True
    return planned.before is None or _is_maker(record, above)
