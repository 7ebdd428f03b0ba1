"""A damaged journal made whole by the copies that hosts have of their own parts of it. Pure.

An intent stands in its host's copy before the change is made. So a copy that is whole says all that
was begun on its host; of one that is damaged too, only that is taken which the journal says nothing
of. What no copy says stays lost.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.model.journal import Begun, Entry, Intent, Staged, Stood, whole_plan
from wirespeed.model.journal_lines import JournalText
from wirespeed.model.journal_part import gist, placed_part_of, steps_of, with_numbers
from wirespeed.model.plan import Plan


@dataclass(frozen=True, slots=True)
class Healed:
    """What a journal says with what its copies add."""

    entries: tuple[Entry, ...]
    added: int
    """Lines that the journal lacked."""
    lost: int
    """Lines that are not known still; 0: it is whole."""


Lost = dict[int, list[Entry]]
"""By the place in the journal before which they stood, what it lacks of one host."""


def healed(told: JournalText, copies: Mapping[str, JournalText], run: str) -> Healed | None:
    """Give a damaged journal with what it lacks; `copies` by host. None: they are not of it."""
    hosts = list(dict.fromkeys(s.host for s in (whole_plan(told.entries) or Plan(steps=())).steps))
    found: dict[str, Lost] = {}
    spoilt = 0
    for host in hosts:
        copy = copies.get(host)
        if copy is None or not copy.entries:
            continue
        lost = _named(told, copy, host, run) if copy.damage else _gaps(told, copy, host, run)
        if lost is not None:
            found[host] = lost
            spoilt += copy.lost if says_more(told.entries, copy, host, run) else 0
    entries = list(_joined(told.entries, found, alone=len(hosts) == 1))
    if len(entries) < len(told.entries):
        return None
    added = len(entries) - len(told.entries)
    is_whole = bool(hosts) and all(h in found and not copies[h].damage for h in hosts)
    lost_still = 0 if is_whole else max(0, told.lost - added) + spoilt
    return Healed(tuple(entries), added, lost_still)


def says_more(entries: Sequence[Entry], copy: JournalText, host: str, run: str) -> bool:
    """Tell whether a damaged copy of this beginning has, or had, lines that the journal lacks."""
    own = [entry for _, entry in placed_part_of(entries, host, run)]
    if not own or not copy.entries or gist(own[0]) != gist(copy.entries[0]):
        return False
    # Intents are what undo needs; a copy that is longer had more of whatever kind.
    return copy.number > len(own) or not _intents(copy.entries) <= _intents(own)


def _gaps(told: JournalText, copy: JournalText, host: str, run: str) -> Lost | None:
    """Give what a whole copy has and the journal lacks; None: it is of another beginning."""
    own = placed_part_of(told.entries, host, run)
    found: Lost = {}
    at = inside = 0
    for entry in copy.entries:
        if at < len(own) and gist(own[at][1]) == gist(entry):
            at += 1
            continue
        inside += at < len(own)
        found.setdefault(own[at][0] if at < len(own) else len(told.entries), []).append(entry)
    is_same = bool(own) and gist(own[0][1]) == gist(copy.entries[0])
    return found if is_same and inside <= told.lost else None


def _named(told: JournalText, copy: JournalText, host: str, run: str) -> Lost | None:
    """Give what a damaged copy says of steps that the journal does not name, and lost intents."""
    own = placed_part_of(told.entries, host, run)
    if not own or gist(own[0][1]) != gist(copy.entries[0]):
        return None
    intents = _intents(entry for _, entry in own)
    named = {_number(entry) for _, entry in own}
    found: Lost = {}
    for entry in copy.entries:
        number = _number(entry)
        if number >= 0 and (
            number not in named or (isinstance(entry, Intent) and number not in intents)
        ):
            later = (place for place, one in own if _number(one) >= number)
            found.setdefault(next(later, len(told.entries)), []).append(entry)
    return found


def _intents(entries: Iterable[Entry]) -> set[int]:
    return {entry.number for entry in entries if isinstance(entry, Intent)}


def _number(entry: Entry) -> int:
    """Give the step that an entry is about; -1: none, or all."""
    return -1 if isinstance(entry, Stood) else int(getattr(entry, "number", -1))


def _joined(entries: Sequence[Entry], lost: Mapping[str, Lost], *, alone: bool) -> Iterator[Entry]:
    """Give the whole; nothing more from where one line of several hosts cannot be made again."""
    spec = next((e.spec for e in entries if isinstance(e, Begun)), None)
    plan = whole_plan(entries) or Plan(steps=())
    numbers: dict[str, Sequence[int]] = {
        host: range(1 << 30) if alone else steps_of(plan, host) for host in lost
    }
    for place in range(len(entries) + 1):
        queues = {host: list(one.get(place, ())) for host, one in lost.items()}
        while any(queues.values()):
            for host, queue in queues.items():
                while queue and (known := _of_step(queue[0], numbers[host])) is not None:
                    yield known
                    del queue[0]
            heads = {host: queue.pop(0) for host, queue in queues.items() if queue}
            if heads:
                shared = _shared(heads, numbers, alone=alone)
                if shared is None:
                    return
                is_begun = isinstance(shared, Begun)
                yield shared.model_copy(update={"spec": spec}) if is_begun else shared
        if place < len(entries):
            yield entries[place]


def _of_step(entry: Entry, numbers: Sequence[int]) -> Entry | None:
    """Give an entry about one step, with its number in the journal; None: it is about more."""
    return None if isinstance(entry, Stood) else with_numbers(entry, numbers)


def _shared(
    heads: Mapping[str, Entry], numbers: Mapping[str, Sequence[int]], *, alone: bool
) -> Entry | None:
    """Make one line of those that several hosts have of it. None: that is not known."""
    first = next(iter(heads.values()))
    if len({one.kind for one in heads.values()}) > 1 or (isinstance(first, Begun) and not alone):
        return None
    if isinstance(first, Stood):
        return Stood(
            states={
                numbers[host][number]: state
                for host, one in heads.items()
                if isinstance(one, Stood)
                for number, state in one.states.items()
            }
        )
    if isinstance(first, Staged):
        waits = {
            h: w for one in heads.values() if isinstance(one, Staged) for h, w in one.waits.items()
        }
        return first.model_copy(update={"waits": waits})
    return first
