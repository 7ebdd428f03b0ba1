"""What a run says when its host, its connection or its journal is lost in its midst. Pure."""

from collections.abc import Sequence

from wirespeed.model.error import LeftChangedError, WirespeedError
from wirespeed.model.journal import Entry, StepProgress, progress, whole_plan
from wirespeed.model.plan import Plan


def interrupted(
    error: WirespeedError, entries: Sequence[Entry], name: str
) -> LeftChangedError | None:
    """Give the error that says how far it came; None: nothing was written to any host.

    `name` is the spec or the run, as the user calls it.
    """
    plan = whole_plan(entries)
    if plan is None:
        return None
    came = progress(plan, entries)
    done, torn = came.count(StepProgress.DONE), _named(plan, came)
    if not done and not torn:
        return None
    todo = sum(not planned.no_op for planned in plan.steps)
    stands = f"the run is not finished: {done} of {todo} steps are in place"
    stands += " of this stage, and another follows" if plan.later else ""
    return LeftChangedError(
        "run.interrupted",
        where=error.where,
        found=f"{error.what}: {error.found}",
        so=stands + (f", and {torn} may or may not be written" if torn else ""),
        next=(f"{error.next}\n" if error.next else "")
        + f"`wirespeed apply {name}` continues, `wirespeed undo {name}` undoes all of it",
    )


def _named(plan: Plan, came: Sequence[StepProgress]) -> str:
    torn = [
        f"{planned.name} on {planned.host}"
        for planned, how in zip(plan.steps, came, strict=True)
        if how is StepProgress.MAYBE_WRITTEN
    ]
    return ", ".join(torn[:3]) + (f" and {len(torn) - 3} more" if len(torn) > 3 else "")
