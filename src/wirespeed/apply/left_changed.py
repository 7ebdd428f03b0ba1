"""What is said when an undo did not put all back: what failed, and what others changed. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from wirespeed.apply.judge import state_text
from wirespeed.apply.record import Record
from wirespeed.apply.theirs import Theirs, foreign_keys
from wirespeed.model.error import LeftChangedError
from wirespeed.model.journal import Undone
from wirespeed.model.plan import PlannedStep
from wirespeed.model.step import State


def left_changed(
    record: Record,
    failures: Sequence[tuple[PlannedStep, Undone]],
    theirs: Mapping[int, Theirs],
    left: Mapping[int, State],
) -> LeftChangedError:
    """Give the error; `left` is how the steps had been left before the undo began."""
    said = list(_changed(record, theirs, left))
    kept = list(_kept(record, theirs))
    alone = "; ".join(
        (["what others changed was not undone"] if said else [])
        + ([f"nor was what hangs together with it: {', '.join(kept)}"] if kept else [])
    )
    how = "find out who changed it; then run undo again, with --force to undo that too, "
    how += "or with --forget STEP to leave it as it is"
    if not failures:
        return LeftChangedError(
            "host.changed_by_others",
            where=", ".join(_names(record, theirs)),
            found="; ".join(said),
            so=f"{alone}; everything else is as it was",
            next=how,
        )
    return LeftChangedError(
        "host.left_changed",
        where=", ".join(f"{p.subject} on {p.host}" for p, _ in failures),
        found="; ".join([*(u.said or f"it is {state_text(u.now)}" for _, u in failures), *said]),
        so="; ".join(filter(None, ["these are not in their original state", alone])),
        next="; ".join(c.line() for p, _ in failures for c in p.undo)
        + "\nif a device is gone for good, run undo again with --forget STEP"
        + (f"\n{how}" if said else ""),
    )


def _changed(
    record: Record, theirs: Mapping[int, Theirs], left: Mapping[int, State]
) -> Iterator[str]:
    for number in _first_of_each(record, theirs):
        states = (left.get(number), theirs[number].now, record.before(number))
        keys = foreign_keys(states[1] or {}, states[0], states[2])
        was_left, is_now, was = (state_text(_only(state, keys)) for state in states)
        said = f"left as {was_left}, is now {is_now}, was {was} before"
        yield f"{_name(record, number)}: {said}"


def _only(state: State | None, keys: Sequence[str]) -> State | None:
    """Give what matters of a state; all of it where no key tells."""
    if state is None or not keys:
        return state
    return {key: state.get(key) for key in keys}


def _names(record: Record, theirs: Mapping[int, Theirs]) -> list[str]:
    return [_name(record, number) for number in _first_of_each(record, theirs)]


def _first_of_each(record: Record, theirs: Mapping[int, Theirs]) -> list[int]:
    """Give the steps that others changed; one that several stages have is named once."""
    found: dict[tuple[str, str], int] = {}
    for number in sorted(theirs):
        if theirs[number].because is None:
            planned = record.plan.steps[number]
            found.setdefault((planned.host, str(planned.step)), number)
    return sorted(found.values())


def _kept(record: Record, theirs: Mapping[int, Theirs]) -> Iterator[str]:
    for number, one in sorted(theirs.items()):
        if one.because is not None:
            yield f"{_name(record, number)} (with step {one.because + 1})"


def _name(record: Record, number: int) -> str:
    planned = record.plan.steps[number]
    return f"step {number + 1} {planned.name} on {planned.host}"
