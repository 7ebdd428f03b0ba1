"""The part of a journal that is about one host: what its own copy holds. Pure.

The steps of that host alone, with numbers of their own from 0; no other host's states, and no spec.
A virtual machine's steps are not among them: it goes with the steps of its host.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from wirespeed.model.journal import (
    Begun,
    Ended,
    Entry,
    Forgotten,
    Intent,
    Result,
    Staged,
    Stood,
    Undoing,
    Undone,
)
from wirespeed.model.plan import Plan


class Relation(StrEnum):
    """How a host's copy of the journal compares with the run folder."""

    BEHIND = "behind"
    """The run folder says the same and maybe more."""
    AHEAD = "ahead"
    """The copy says the same and more: it was gone on with from another place."""
    OTHER = "other"


def part_of(entries: Iterable[Entry], host: str, run: str) -> list[Entry]:
    """Give the entries that concern a host; `run` is the run's id."""
    return [entry for _, entry in placed_part_of(entries, host, run)]


def placed_part_of(entries: Iterable[Entry], host: str, run: str) -> list[tuple[int, Entry]]:
    """Give the same, each with its place among `entries`."""
    found: list[tuple[int, Entry]] = []
    numbers: dict[int, int] = {}
    steps = 0
    for place, entry in enumerate(entries):
        if isinstance(entry, Begun):
            for number, planned in enumerate(entry.plan.steps, steps):
                if planned.host == host:
                    numbers[number] = len(numbers)
            steps += len(entry.plan.steps)
        if (mine := _mine(entry, host, run, numbers)) is not None:
            found.append((place, mine))
    return found


def steps_of(plan: Plan, host: str) -> list[int]:
    """Give the numbers that a host's steps have in the whole plan, by their own numbers."""
    return [number for number, planned in enumerate(plan.steps) if planned.host == host]


def with_numbers(entry: Entry, numbers: Sequence[int]) -> Entry | None:
    """Give an entry of a part with the numbers that steps have in the whole plan.

    None: it is about a stage, and not about steps of one.
    """
    if isinstance(entry, Begun | Staged | Ended):
        return None
    if isinstance(entry, Stood):
        return Stood(states={numbers[number]: state for number, state in entry.states.items()})
    return entry.model_copy(update={"number": numbers[entry.number]})


def relation(own: Sequence[Entry], copy: Sequence[Entry]) -> Relation:
    """Compare the part of the run folder's journal with a copy, by what they say was done."""
    ours, theirs = [gist(one) for one in _steps(own)], [gist(one) for one in _steps(copy)]
    if ours[: len(theirs)] == theirs:
        return Relation.BEHIND
    return Relation.AHEAD if theirs[: len(ours)] == ours else Relation.OTHER


def kept_of(own: Sequence[Entry], copy: Sequence[Entry]) -> int:
    """Give how many entries of `own` a copy has that is `BEHIND`: the rest is still to be sent."""
    there = len(_steps(copy))
    kept = 0
    for place, entry in enumerate(own):
        if isinstance(entry, Ended):
            continue
        if not there:
            break
        there -= 1
        kept = place + 1
    while kept < len(own) and isinstance(own[kept], Ended) and copy and copy[-1] == own[kept]:
        kept += 1
    return kept


def more_of(own: Sequence[Entry], copy: Sequence[Entry]) -> list[Entry]:
    """Give what a copy that is `AHEAD` says, and `own` does not."""
    return _steps(copy)[len(_steps(own)) :]


def _steps(entries: Iterable[Entry]) -> list[Entry]:
    """Leave the ends out: one who goes on from a copy ends it once more."""
    return [entry for entry in entries if not isinstance(entry, Ended)]


def _mine(entry: Entry, host: str, run: str, numbers: dict[int, int]) -> Entry | None:
    if isinstance(entry, Begun):
        plan = Plan(
            steps=tuple(one for one in entry.plan.steps if one.host == host),
            later=tuple(one for one in entry.plan.later if one.host == host),
        )
        boot_ids = {name: one for name, one in entry.boot_ids.items() if name == host}
        update = {"plan": plan, "boot_ids": boot_ids, "spec": None, "run": run}
        return entry.model_copy(update=update)
    if isinstance(entry, Stood):
        states = {numbers[n]: state for n, state in entry.states.items() if n in numbers}
        return Stood(states=states)
    if isinstance(entry, Staged):
        waits = {name: one for name, one in entry.waits.items() if name == host}
        return entry.model_copy(update={"waits": waits})
    if isinstance(entry, Ended):
        return entry
    if entry.number not in numbers:
        return None
    return entry.model_copy(update={"number": numbers[entry.number]})


def gist(entry: Entry) -> object:
    """Give what an entry says was done: not its words, nor commands, which releases may change."""
    if isinstance(entry, Begun):
        steps = [(one.step, one.before, one.goal, bool(one.no_op)) for one in entry.plan.steps]
        return entry.kind, steps, entry.try_s
    if isinstance(entry, Intent):
        return entry.kind, entry.number, entry.before, entry.goal
    if isinstance(entry, Result | Undone):
        return entry.kind, entry.number, entry.verdict, entry.now
    if isinstance(entry, Undoing | Forgotten):
        return entry.kind, entry.number
    return (entry.kind, entry.states) if isinstance(entry, Stood) else entry.kind
