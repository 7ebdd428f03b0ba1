"""A fleet's change as its folder and its hosts say: every host is asked, many at once."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from wirespeed.host.files import is_file
from wirespeed.model.shown import shown
from wirespeed.runs.fleet_host import Stand, stand_of
from wirespeed.runs.fleet_record import (
    LINES,
    FleetChange,
    WaveEvent,
    change_or_hosts,
    jobs_of,
    read_events,
    was_begun,
)
from wirespeed.runs.fleet_seen import GONE, Seen, see

KINDS = {"begun": "begun", "kept": "kept", "taken back": "undone"}
"""What is printed for the kind of a `WaveEvent`, whose words are on disk."""


@dataclass(frozen=True, slots=True)
class Look:
    """A fleet's change as its folder and its hosts say."""

    change: FleetChange
    seen: Mapping[str, Seen]
    last: Mapping[int, WaveEvent]
    notes: tuple[str, ...]
    """What of the folder is lost or damaged."""
    is_lost: bool
    """Whether it is not known which waves there are."""

    @property
    def exit_code(self) -> int:
        """Give 0 where every host is at its goal, 3 where one was left changed, else 1.

        3 too where a host does not say what the folder says.
        """
        stands = {one.stand for one in self.seen.values()}
        differs = any(one.differs for one in self.seen.values())
        if differs or Stand.LEFT_CHANGED in stands or (self.is_lost and stands != {Stand.START}):
            return 3
        return int(stands != {Stand.GOAL})

    def lines(self) -> Iterator[str]:
        """Give a line for each wave, then the hosts that need a look."""
        yield from self.notes
        for number, names in enumerate(self.change.waves, 1):
            event = self.last.get(number)
            stands = [self.seen[name].stand for name in names]
            counts = [f"{stands.count(one)} {one}" for one in Stand if one in stands]
            how = "not begun" if set(stands) <= {Stand.START} else "no record"
            how = KINDS[event.kind] if event else how
            yield f"wave {number}: {len(names)} hosts, {how}: {', '.join(counts)}"
            failed = event.failed if event else {}
            for name in names:
                for what in filter(None, (failed.get(name, ""), self.seen[name].said)):
                    yield f"  {shown(name, 40)}: {shown(what, 300)}"


def look(folder: Path) -> Look:
    """Ask every host of each wave that may be begun, many at once.

    Raises InputError `fleet.no_change`, `file.untrusted`.
    """
    change, note = change_or_hosts(folder)
    events, spoilt = read_events(folder)
    notes = [note] if note else []
    if spoilt:
        notes.append(f"{LINES}: {spoilt} lines are damaged: what they said is asked of the hosts")
    jobs, last = jobs_of(folder, change), {event.wave: event for event in events}
    is_known = not (note or spoilt) and is_file(folder / LINES)
    is_begun = was_begun(folder, jobs)

    def seen(number: int, name: str) -> Seen:
        event, job = last.get(number), jobs[name]
        if event is None and (is_known or not is_begun):
            return Seen(stand_of(job))
        kept = event if event is not None and event.kind == "kept" else None
        as_wanted, failed = (kept.as_wanted, kept.failed) if kept else ((), {})
        was_changed = kept is not None and name not in (*as_wanted, *failed)
        was_changed |= event is not None and event.failed.get(name) == GONE
        found = see(job, was_changed=was_changed)
        is_so = name in as_wanted and found.stand is Stand.START and not found.differs
        return Seen(Stand.GOAL) if is_so else found

    of = [(number, name) for number, names in enumerate(change.waves, 1) for name in names]
    with ThreadPoolExecutor(max(1, min(change.at_once, len(of))), "fleet") as pool:
        answers = dict(
            zip((name for _, name in of), pool.map(lambda one: seen(*one), of), strict=True)
        )
    return Look(change, answers, last, tuple(notes), is_lost=bool(note))
