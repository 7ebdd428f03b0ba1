"""What became of a change, by what the host says now. Pure."""

from wirespeed.apply.control import Changed
from wirespeed.apply.planner import described
from wirespeed.model.journal import Verified
from wirespeed.model.observed import Known
from wirespeed.model.step import State


def judged(changed: Changed, goal: State) -> tuple[Verified, State | None, str]:
    """Give verdict, state and message; a failed command counts even if the state is right."""
    now = changed.now.value if isinstance(changed.now, Known) else None
    if changed.is_stale:
        reason = "" if isinstance(changed.now, Known) else changed.now.reason
        return Verified.CHANGED_MEANWHILE, now, reason
    if changed.is_cut_off:
        return Verified.CUT_OFF, now, changed.failed
    if changed.failed:
        return Verified.FAILED, now, changed.failed
    if not isinstance(changed.now, Known):
        return Verified.CANNOT_VERIFY, None, changed.now.reason
    return (Verified.VERIFIED if now == goal else Verified.CONTRADICTED), now, ""


def state_text(state: State | None) -> str:
    """Give a state as text for a person; None is not known."""
    return "not known" if state is None else described(state)
