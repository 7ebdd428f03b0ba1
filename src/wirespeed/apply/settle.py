"""A state that takes its time after a change: it is read again until it is known. Bounded."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from wirespeed.apply.control import Changed
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.model.observed import Known, Observed
from wirespeed.model.step import State, Step

PAUSE_S = 0.5

Read = Callable[[Sequence[Step]], list[Observed[State]]]


def settled(read: Read, step: Step, changed: Changed) -> Changed:
    """Read again until the state is known, for `step.settle_s` at most; a failure stands at once.

    A link that is negotiated, or a card that starts anew, cannot say yet how it is.
    """
    latest = Deadline(step.settle_s)
    while not (changed.failed or isinstance(changed.now, Known) or latest.expired):
        sleep_s(PAUSE_S)
        changed = replace(changed, now=read([step])[0])
    return changed
