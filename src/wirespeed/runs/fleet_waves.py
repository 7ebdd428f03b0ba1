"""A fleet changed in waves: each applied and judged, then kept or taken back; resumed, undone.

    applied     every host of a wave, many at once; a timer on each takes it back unless all of it
                is verified and confirmed: a host's own confirmation waits for no other host
    judged      more failures than the bound: the whole wave is taken back, and the fleet stops
    kept        else the next wave begins

A controller that is killed leaves each host to its timer: what was confirmed is at its goal, all
else goes back to its start. The folder has all that --resume and undo need (`fleet_record`), and
what it lacks is asked of the hosts (`fleet_seen`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from wirespeed.fleet.waves import Planned
from wirespeed.host.clock import utc_now
from wirespeed.host.lock import FileLock
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown
from wirespeed.runs.fleet_host import (
    HostJob,
    HostResult,
    Stand,
    apply_host,
    stand_of,
    undo_host,
)
from wirespeed.runs.fleet_look import look
from wirespeed.runs.fleet_record import (
    LOCK,
    FleetChange,
    WaveEvent,
    change_or_hosts,
    jobs_of,
    note_event,
    read_change,
    read_events,
    was_begun,
)
from wirespeed.runs.fleet_seen import GONE, Seen
from wirespeed.terminal import echo


def go_through(folder: Path, *, breaks_lock: bool = False) -> int:
    """Continue to the last wave, or to one that fails; give the exit code."""
    change = read_change(folder)
    with _alone(folder):
        planned = Planned(change.waves, change.bound)
        events, _ = read_events(folder)
        is_resumed = was_begun(folder, jobs_of(folder, change))
        jobs = jobs_of(folder, change, breaks_lock=breaks_lock, is_resumed=is_resumed)
        last = {event.wave: event.kind for event in events}
        done = {number for number, kind in last.items() if kind == "kept"}
        for number, names in enumerate(change.waves, 1):
            if number in done:
                continue
            wave = [jobs[name] for name in names]
            if not _one_wave(folder, number, wave, planned, change.at_once):
                break
        return _told_end(folder)


def undo_change(folder: Path, wave: int | None = None, *, breaks_lock: bool = False) -> int:
    """Undo every host that is not at its start, the last wave first; or those of one wave.

    Where a host stands is asked of the host: a journal that is lost here is made again of its copy.
    """
    change, note = change_or_hosts(folder)
    if wave is not None and (note or not 1 <= wave <= len(change.waves)):
        raise InputError(
            "fleet.no_wave",
            where=str(wave),
            found=note or f"the change has waves 1 to {len(change.waves)}",
            next="undo all waves" if note else "give one of these numbers to --wave",
        )
    with _alone(folder):
        now = look(folder)
        for line in now.notes:
            echo(line)
        jobs = jobs_of(folder, change, breaks_lock=breaks_lock)
        chosen = [n for n in reversed(range(1, len(change.waves) + 1)) if wave in (None, n)]
        ends = [
            stand
            for number in chosen
            for stand in _undo_wave(folder, number, change, jobs, now.seen)
        ]
        if Stand.LEFT_CHANGED in ends:
            return 3
        return int(any(stand is not Stand.START for stand in ends))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock a folder that `read_change` has read: it is ours."""
    lock = FileLock(folder / LOCK)
    if not lock.acquire():
        raise InputError(
            "run.in_use",
            where=str(folder),
            found=f"{lock.holder()} is working there",
            next="wait until that process has ended",
        )
    try:
        yield
    finally:
        lock.release()


def _at_once(
    jobs: Sequence[HostJob], do: Callable[[HostJob], HostResult], limit: int
) -> list[HostResult]:
    """Do it on each, `limit` at a time; a line for each as it ends."""
    results = []
    with ThreadPoolExecutor(max(1, min(limit, len(jobs))), thread_name_prefix="fleet") as pool:
        for result in pool.map(do, jobs):
            said = f": {result.what}: {result.found}" if result.what else ""
            echo(f"  {result.stand:<13} {shown(result.name, 40)}{shown(said, 300)}")
            results.append(result)
    return results


def _one_wave(
    folder: Path, number: int, jobs: Sequence[HostJob], planned: Planned, limit: int
) -> bool:
    """Apply one wave; False: it failed, and was undone."""
    echo(f"wave {number} of {len(planned.waves)}: {len(jobs)} hosts")
    note_event(folder, WaveEvent(at=utc_now(), wave=number, kind="begun"))
    results = _at_once(jobs, apply_host, limit)
    failed = {one.name: one.what for one in results if one.what}
    if planned.has_failed(len(failed), len(jobs)):
        share = f"{len(failed)} of {len(jobs)}"
        echo(
            f"wave {number}: {share} failed, which is more than {planned.bound:.0%}: undoing the "
            "wave"
        )
        _at_once(jobs, undo_host, limit)
        event = WaveEvent(at=utc_now(), wave=number, kind="taken back", failed=failed)
        note_event(folder, event)
        return False
    as_wanted = tuple(
        one.name
        for job, one in zip(jobs, results, strict=True)
        if one.stand is Stand.GOAL and stand_of(job) is Stand.START
    )
    event = WaveEvent(at=utc_now(), wave=number, kind="kept", failed=failed, as_wanted=as_wanted)
    note_event(folder, event)
    return True


def _undo_wave(
    folder: Path,
    number: int,
    change: FleetChange,
    jobs: Mapping[str, HostJob],
    seen: Mapping[str, Seen],
) -> list[Stand]:
    """Undo one wave; give how each of its hosts stands then."""
    names = change.waves[number - 1]
    gone = [name for name in names if seen[name].is_gone]
    standing = [
        jobs[n]
        for n in names
        if n not in gone and (seen[n].stand is not Stand.START or seen[n].differs)
    ]
    ends = {name: Stand.LEFT_CHANGED if name in gone else Stand.START for name in names}
    for name in gone:
        echo(f"  {Stand.LEFT_CHANGED:<13} {shown(name, 40)}: {seen[name].said}")
    if standing:
        echo(f"wave {number}: undoing {len(standing)} hosts")
        results = _at_once(standing, undo_host, change.at_once)
        failed = {one.name: one.what for one in results if one.what} | dict.fromkeys(gone, GONE)
        note_event(folder, WaveEvent(at=utc_now(), wave=number, kind="taken back", failed=failed))
        for one in results:
            # What was not undone is not at its start, whatever the journal here says.
            is_back = one.stand is Stand.START
            ends[one.name] = _not_back(one, seen[one.name]) if one.what and is_back else one.stand
    return [ends[name] for name in names]


def _not_back(result: HostResult, was: Seen) -> Stand:
    if was.differs or was.stand is Stand.LEFT_CHANGED:
        return Stand.LEFT_CHANGED
    return Stand.NOT_KNOWN if result.stand is Stand.START else result.stand


def _told_end(folder: Path) -> int:
    now = look(folder)
    echo("\n".join(now.lines()))
    if now.exit_code:
        echo(
            f"wirespeed fleet apply --resume {folder} continues; wirespeed fleet undo {folder} "
            "undoes it"
        )
    return now.exit_code
