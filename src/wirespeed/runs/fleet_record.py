"""The folder of a fleet's change: its hosts and waves, and what came of them.

FOLDER/waves.json      hosts, waves and bounds, written once
FOLDER/waves.jsonl     what came of each wave
FOLDER/hosts/NAME/     see `fleet_host`
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from wirespeed.host.files import is_file, is_folder, make_run_folder, write_whole
from wirespeed.host.jsonl import JsonlWriter
from wirespeed.host.private import check_private_folder, read_private
from wirespeed.model.error import InputError, LeftChangedError
from wirespeed.model.frozen import Frozen
from wirespeed.model.json_value import read_record
from wirespeed.runs.fleet_host import HostJob

FILE, LINES, LOCK, HOSTS = "waves.json", "waves.jsonl", "lock", "hosts"
MAX_LINES = 10_000
"""Of what came of the waves, which has some lines each; what is beyond counts as damaged."""
AT_ONCE = 16
"""Hosts that are asked at the same time where the folder does not say how many."""


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
    if is_file(folder / FILE) or is_folder(folder / HOSTS):
        raise InputError(
            "fleet.begun_before",
            where=str(folder),
            found="the folder already has the change of a fleet",
            next="continue it with --resume, undo it with `wirespeed fleet undo`, or give "
            "another --run",
        )
    make_run_folder(folder)
    make_run_folder(folder / HOSTS)
    for name, text in specs.items():
        make_run_folder(folder / HOSTS / name)
        write_whole(folder / HOSTS / name / "spec.yaml", text)
    write_whole(folder / FILE, change.model_dump_json() + "\n")


def read_change(folder: Path) -> FleetChange:
    """Read what a folder is of.

    Raises InputError `fleet.no_change`, `file.untrusted`; LeftChangedError `fleet.change_lost`
    where hosts were changed by it.
    """
    try:
        check_private_folder(folder)
        return read_record(FleetChange, read_private(folder / FILE))
    except OSError as error:
        found = f"{FILE}: {error.strerror}"
    except ValidationError as error:
        found = f"{FILE}: {str(error).partition(chr(10))[0]}"
    if is_folder(folder / HOSTS):
        raise LeftChangedError(
            "fleet.change_lost",
            where=str(folder),
            found=found,
            so=f"which hosts are in which wave is not known; {HOSTS}/ there has the journals of "
            "hosts that may be changed",
            next=f"`wirespeed fleet status {folder}` asks these hosts; `wirespeed fleet undo "
            f"{folder}` undoes them",
        )
    raise InputError(
        "fleet.no_change",
        where=str(folder),
        found=found,
        next="give the folder that `wirespeed fleet apply` printed",
    )


def change_or_hosts(folder: Path) -> tuple[FleetChange, str]:
    """Give the change, else its hosts as one wave, and why."""
    try:
        return read_change(folder), ""
    except LeftChangedError as error:
        names = sorted(one.name for one in (folder / HOSTS).glob("*") if is_folder(one))
        change = FleetChange(
            at="", source="", waves=(tuple(names),), bound=0, try_s=0, within_s=0, at_once=AT_ONCE
        )
        return change, f"{error.found}: the hosts below {HOSTS}/ are taken as one wave"


def jobs_of(
    folder: Path, change: FleetChange, *, breaks_lock: bool = False, is_resumed: bool = False
) -> dict[str, HostJob]:
    """Give the hosts of a change."""
    return {
        name: HostJob(
            name,
            folder / HOSTS / name,
            change.try_s,
            change.within_s,
            allow_cutoff=change.allow_cutoff,
            allow_no_undo=change.allow_no_undo,
            breaks_lock=breaks_lock,
            is_resumed=is_resumed,
        )
        for names in change.waves
        for name in names
    }


def read_events(folder: Path) -> tuple[list[WaveEvent], int]:
    """Give what came of the waves, and how many lines of that are damaged."""
    try:
        data = read_private(folder / LINES)
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise InputError("file.unreadable", where=str(folder / LINES), found=str(error)) from None
    *lines, rest = data.decode(errors="replace").split("\n", MAX_LINES)
    events, spoilt = [], rest.count("\n")
    for line in lines:
        try:
            events.append(read_record(WaveEvent, line))
        except ValidationError:
            spoilt += 1
    return events, spoilt


def was_begun(folder: Path, jobs: Mapping[str, HostJob]) -> bool:
    """Tell whether anything of a change may have been done."""
    return is_file(folder / LINES) or any(
        is_file(job.folder / "log") or job.runs for job in jobs.values()
    )


def note_event(folder: Path, event: WaveEvent) -> None:
    """Add what came of a wave. Raises InputError `file.unwritable`."""
    writer = JsonlWriter(folder / LINES)
    try:
        writer.append(event.model_dump_json())
    finally:
        writer.close()
