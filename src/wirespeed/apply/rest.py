"""What a run that did not come to its end has still to do. Pure."""

from collections.abc import Collection, Iterator, Sequence

from wirespeed.apply.persist import FORGOTTEN
from wirespeed.model.journal import Entry, StepProgress, progress
from wirespeed.model.plan import Plan

IN_PLACE = "already in place, by the journal"


def rest_of(plan: Plan, entries: Sequence[Entry], rebooted: Collection[str]) -> Plan:
    """Give the same plan, in which the steps that are in place have nothing to do.

    On a host that was `rebooted` since the stage began, what a boot forgets is to be done again.
    """
    steps = []
    for planned, came in zip(plan.steps, progress(plan, entries), strict=True):
        is_lost = planned.host in rebooted and planned.scope in FORGOTTEN
        stands = came is StepProgress.DONE and not is_lost and not planned.no_op
        steps.append(planned.model_copy(update={"no_op": IN_PLACE}) if stands else planned)
    return plan.model_copy(update={"steps": tuple(steps)})


def rest_notes(plan: Plan, entries: Sequence[Entry]) -> Iterator[str]:
    """Say of which steps it is not known whether they are written, and what failing means."""
    came = progress(plan, entries)
    torn = [n for n, how in enumerate(came, 1) if how is StepProgress.MAYBE_WRITTEN]
    if torn:
        numbers = ", ".join(map(str, torn))
        yield f"step {numbers} may be in place already: it is read, and done only if it is not"
    stand = came.count(StepProgress.DONE)
    if stand:
        yield f"if a step fails, the {stand} steps in place are undone too"
