"""What others have changed since a run left it: by its journal, and a fresh reading. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.catalog import read_step
from wirespeed.model.journal import Entry, Result, StepProgress, Stood, progress
from wirespeed.model.observed import CUT_OFF, Known, Observed, Unreadable
from wirespeed.model.plan import Plan, PlannedStep
from wirespeed.model.step import State


@dataclass(frozen=True, slots=True)
class Drifted:
    """A step whose thing is not as it was left."""

    number: int
    planned: PlannedStep
    left: State
    now: Observed[State]


def applied_states(plan: Plan, entries: Sequence[Entry]) -> dict[int, State]:
    """Give the state in which the run left each step that is in place, also of unchanged ones.

    As the last reading of the run says, which came after all steps; else as that of the step
    itself. Of a step that two stages have, the later one counts.
    """
    came = progress(plan, entries)
    left: dict[int, State] = {
        number: planned.goal for number, planned in enumerate(plan.steps) if planned.no_op
    }
    for entry in entries:
        if isinstance(entry, Result) and entry.now is not None:
            left[entry.number] = entry.now
        elif isinstance(entry, Stood):
            left |= entry.states
    last: dict[tuple[str, str], int] = {}
    for number in sorted(left):
        planned = plan.steps[number]
        if planned.no_op or came[number] is StepProgress.DONE:
            last[planned.host, read_step(planned.step).model_dump_json()] = number
    return {number: left[number] for number in sorted(last.values())}


def unread(found: Sequence[Drifted]) -> int:
    """Count those whose reading was cut off: whether they differ is not known."""
    return sum(isinstance(one.now, Unreadable) and one.now.reason == CUT_OFF for one in found)


def drifted(
    plan: Plan, left: Mapping[int, State], now: Mapping[int, Observed[State]]
) -> list[Drifted]:
    """Give every step that is not as the run left it, or whose state cannot be read."""
    found = []
    for number, state in left.items():
        is_now = now[number]
        if not isinstance(is_now, Known) or is_now.value != state:
            found.append(Drifted(number, plan.steps[number], state, is_now))
    return found
