"""A fleet changed in waves: each applied and judged, then kept or taken back; resumed, undone.

    applied     every host of a wave, many at once; a timer on each takes it back unless all of it
                is verified and confirmed: a host's own confirmation waits for no other host
    judged      more failures than the bound: the whole wave is taken back, and the fleet stops
    kept        else the next wave begins

A controller that is killed leaves each host to its timer: what was confirmed is at its goal, all
else goes back to its start. The folder has all that --resume and undo need:

    FOLDER/waves.json      hosts, waves and bounds, written once
    FOLDER/waves.jsonl     what came of each wave
    FOLDER/hosts/NAME/     see `fleet_host`
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from wirespeed.fleet.waves import Planned
from wirespeed.host.clock import utc_now
from wirespeed.host.files import is_file, make_run_folder, read_text, write_whole
from wirespeed.host.jsonl import JsonlWriter, read_lines
from wirespeed.host.lock import FileLock
from wirespeed.model.error import InputError
from wirespeed.model.frozen import Frozen
from wirespeed.model.shown import shown
from wirespeed.runs.fleet_host import (
    HostJob,
    HostResult,
    Stand,
    apply_host,
    stand_of,
    undo_host,
)
from wirespeed.terminal import echo

FILE, LINES, LOCK = "waves.json", "waves.jsonl", "lock"


KINDS = {"begun": "begun", "kept": "kept", "taken back": "undone"}
"""What is printed for the kind of a `WaveEvent`, whose words are on disk."""


class FleetChange(Frozen):
    """What is to be done to a fleet: `waves.json`."""

    at: str
    source: str
    waves: tuple[tuple[str, ...], ...]
    bound: float
    try_s: int
    within_s: int
    at_once: int
    allow_cutoff: bool = False
    allow_no_undo: bool = False


class WaveEvent(Frozen):
    """A line of `waves.jsonl`."""

    at: str
    wave: int
    """From 1."""
    kind: Literal["begun", "kept", "taken back"]
    failed: dict[str, str] = Field(default_factory=dict)
    """Host to slug."""
    as_wanted: tuple[str, ...] = ()
    """Hosts on which nothing was to be done: their journals are empty."""


def start_change(folder: Path, change: FleetChange, specs: dict[str, str]) -> None:
    """Write the folder. Raises InputError `fleet.begun_before` where one is there."""
    if is_file(folder / FILE):
        raise InputError(
            "fleet.begun_before",
            where=str(folder),
            found="the folder already has the change of a fleet",
            next="continue it with --resume, undo it with `wirespeed fleet undo`, or give "
            "another --run",
        )
    make_run_folder(folder)
    make_run_folder(folder / "hosts")
    for name, text in specs.items():
        make_run_folder(folder / "hosts" / name)
        write_whole(folder / "hosts" / name / "spec.yaml", text)
    write_whole(folder / FILE, change.model_dump_json() + "\n")


def read_change(folder: Path) -> FleetChange:
    """Read what a folder is of. Raises InputError `fleet.no_change`."""
    try:
        if is_file(folder / FILE):
            return FleetChange.model_validate_json(read_text(folder / FILE))
        found = f"no {FILE} there"
    except ValidationError as error:
        found = str(error).split("\n")[0]
    raise InputError(
        "fleet.no_change",
        where=str(folder),
        found=found,
        next="give the folder that `wirespeed fleet apply` printed",
    )


def go_through(folder: Path, *, breaks_lock: bool = False) -> int:
    """Continue to the last wave, or to one that fails; give the exit code."""
    with _alone(folder):
        change = read_change(folder)
        planned = Planned(change.waves, change.bound)
        jobs = _jobs(folder, change, breaks_lock=breaks_lock)
        done = {event.wave for event in _events(folder) if event.kind == "kept"}
        for number, names in enumerate(change.waves, 1):
            if number in done:
                continue
            wave = [jobs[name] for name in names]
            if not _one_wave(folder, number, wave, planned, change.at_once):
                break
        return _told_end(folder)


def undo_change(folder: Path, wave: int | None = None, *, breaks_lock: bool = False) -> int:
    """Undo every host that is not at its start, the last wave first; or those of one wave."""
    with _alone(folder):
        change = read_change(folder)
        if wave is not None and not 1 <= wave <= len(change.waves):
            raise InputError(
                "fleet.no_wave",
                where=str(wave),
                found=f"the change has waves 1 to {len(change.waves)}",
                next="give one of these numbers to --wave",
            )
        jobs = _jobs(folder, change, breaks_lock=breaks_lock)
        for number in reversed(range(1, len(change.waves) + 1)):
            if wave in (None, number):
                _undo_wave(folder, number, [jobs[n] for n in change.waves[number - 1]], change)
        chosen = change.waves if wave is None else (change.waves[wave - 1],)
        stands = [stand_of(jobs[name]) for names in chosen for name in names]
        if Stand.LEFT_CHANGED in stands:
            return 3
        return int(any(stand is not Stand.START for stand in stands))


def change_lines(folder: Path) -> Iterator[str]:
    """Say how far it came, from the journals alone: a line a wave, then hosts that need a look."""
    change = read_change(folder)
    jobs = _jobs(folder, change)
    last = {event.wave: event for event in _events(folder)}
    for number, names in enumerate(change.waves, 1):
        stands = _stands(jobs, names, last.get(number))
        counts = [f"{stands.count(one)} {one}" for one in Stand if one in stands]
        how = KINDS[last[number].kind] if number in last else "not begun"
        yield f"wave {number}: {len(names)} hosts, {how}: {', '.join(counts)}"
        for name, what in last[number].failed.items() if number in last else ():
            yield f"  {shown(name, 40)}: {shown(what, 60)}"


def exit_code_of(folder: Path) -> int:
    """Give 0 where every host is at its goal, 3 where one was left changed, else 1."""
    change = read_change(folder)
    jobs, last = _jobs(folder, change), {event.wave: event for event in _events(folder)}
    stands = {
        stand
        for number, names in enumerate(change.waves, 1)
        for stand in _stands(jobs, names, last.get(number))
    }
    if Stand.LEFT_CHANGED in stands:
        return 3
    return int(stands != {Stand.GOAL})


def _stands(
    jobs: Mapping[str, HostJob], names: Sequence[str], event: WaveEvent | None
) -> list[Stand]:
    as_wanted = event.as_wanted if event is not None else ()
    return [Stand.GOAL if name in as_wanted else stand_of(jobs[name]) for name in names]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    read_change(folder)
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


def _jobs(folder: Path, change: FleetChange, *, breaks_lock: bool = False) -> dict[str, HostJob]:
    return {
        name: HostJob(
            name,
            folder / "hosts" / name,
            change.try_s,
            change.within_s,
            allow_cutoff=change.allow_cutoff,
            allow_no_undo=change.allow_no_undo,
            breaks_lock=breaks_lock,
        )
        for names in change.waves
        for name in names
    }


def _events(folder: Path) -> list[WaveEvent]:
    if not is_file(folder / LINES):
        return []
    return [WaveEvent.model_validate_json(line) for line in read_lines(folder / LINES)]


def _note(folder: Path, event: WaveEvent) -> None:
    writer = JsonlWriter(folder / LINES)
    try:
        writer.append(event.model_dump_json())
    finally:
        writer.close()


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
    _note(folder, WaveEvent(at=utc_now(), wave=number, kind="begun"))
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
        _note(folder, event)
        return False
    as_wanted = tuple(
        one.name
        for job, one in zip(jobs, results, strict=True)
        if one.stand is Stand.GOAL and stand_of(job) is Stand.START
    )
    event = WaveEvent(at=utc_now(), wave=number, kind="kept", failed=failed, as_wanted=as_wanted)
    _note(folder, event)
    return True


def _undo_wave(folder: Path, number: int, jobs: Sequence[HostJob], change: FleetChange) -> None:
    standing = [job for job in jobs if stand_of(job) is not Stand.START]
    if not standing:
        return
    echo(f"wave {number}: undoing {len(standing)} hosts")
    results = _at_once(standing, undo_host, change.at_once)
    failed = {one.name: one.what for one in results if one.what}
    _note(folder, WaveEvent(at=utc_now(), wave=number, kind="taken back", failed=failed))


def _told_end(folder: Path) -> int:
    echo("\n".join(change_lines(folder)))
    code = exit_code_of(folder)
    if code:
        echo(
            f"wirespeed fleet apply --resume {folder} continues; wirespeed fleet undo {folder} "
            "undoes it"
        )
    return code
