"""Where a host of a fleet stands, by its own word: its copies of the journals beside the folder's.

the folder's journal    what was done from here
the host's copy         the same, and what was done from elsewhere; where the journal is lost
                        here, a new one is made of it
"""

from dataclasses import dataclass
from pathlib import Path

from wirespeed.apply.found_copy import HostRuns
from wirespeed.apply.host_copy import copy_name, said_of
from wirespeed.apply.run import read_told
from wirespeed.apply.run_file import read_run_file
from wirespeed.model.error import InputError, LeftChangedError, WirespeedError
from wirespeed.model.journal import Intent, tried_s
from wirespeed.model.journal_lines import JournalText
from wirespeed.model.journal_part import Relation, part_of, relation
from wirespeed.runs.fleet_host import STANDS, HostJob, Stand, stand_of
from wirespeed.runs.fleet_recover import runs_of_host, spec_of_host
from wirespeed.runs.lost_runs import lost_runs

ENDS_BY_ITSELF = (Stand.WAITING, Stand.UNDER_WAY)
BACK_BY_COPY = "`wirespeed fleet undo` undoes it by the host's copy"
BACK_BY_FOLDER = "`wirespeed fleet undo` undoes it by the journal here"
GONE = "fleet.no_way_back"
"""Of a host that an undo of its wave left so, in `WaveEvent.failed`."""
NO_WAY_BACK = (
    "its wave was kept, and neither a journal here nor a copy on the host says what was changed: "
    "no way back is known"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A host's state, and what is to be said of it."""

    stand: Stand
    said: str = ""
    differs: bool = False
    """Whether the folder and the host do not say the same."""
    is_gone: bool = False
    """Whether it may be changed, and nothing says how."""


def see(job: HostJob, *, was_changed: bool) -> Seen:
    """Ask a host. `was_changed`: its wave was kept, and it was among those that were changed."""
    own = stand_of(job)
    try:
        spec = spec_of_host(job.folder, job.spec)
        runs = runs_of_host(spec)
    except WirespeedError as error:
        stand: Stand = own if own is Stand.LEFT_CHANGED else Stand.NOT_KNOWN
        said = f"not asked ({error.what}: {error.found}); its journal says {own}"
        # Without its spec and its journals, nothing here says which host it is.
        return Seen(stand, said, differs=isinstance(error, InputError) and not job.runs)
    if runs is None:
        return Seen(own)
    if lost := next(lost_runs(runs, job.folder), None):
        copy, _ = lost
        said = f"run {copy.run} is {copy.outcome} there; its journal is lost here"
        there = STANDS.get(copy.outcome, Stand.LEFT_CHANGED)
        return Seen(there, f"{said}: {BACK_BY_COPY}", differs=True)
    if not job.runs:
        gone = Seen(Stand.LEFT_CHANGED, NO_WAY_BACK, differs=True, is_gone=True)
        return gone if was_changed else Seen(own)
    ((place, _),) = spec.hosts.items()
    return _compared(job.standing, place, own, runs)


def _compared(run: Path, place: str, own: Stand, runs: HostRuns) -> Seen:
    """Compare a run folder with the host's copy of it."""
    said, told = read_run_file(run), _told(run)
    if said is None or told is None or told.damage:
        return Seen(own, f"its journal here is damaged: {BACK_BY_COPY}", differs=True)
    mine = part_of(told.entries, place, said.run)
    name = said.copy_name or copy_name(said.run, place)
    copy = next((one for one in runs.copies if one.name == name), None)
    if copy is None:
        was_begun = own is not Stand.START and any(isinstance(one, Intent) for one in mine)
        return Seen(own, f"the host has no copy of it: {BACK_BY_FOLDER}" * was_begun, was_begun)
    if copy.outcome == "undone":
        is_same = own is Stand.START
        return Seen(Stand.START, "" if is_same else "it was undone from elsewhere", not is_same)
    if copy.told is None or copy.told.damage:
        why = copy.why or (said_of(copy.told) if copy.told else "")
        return Seen(own, f"the host's copy is not readable ({why}): {BACK_BY_FOLDER}", differs=True)
    how = relation(mine, copy.told.entries)
    if how is Relation.AHEAD:
        return Seen(STANDS[copy.outcome], "its run was continued from elsewhere", differs=True)
    if how is Relation.OTHER:
        return Seen(own, "the host's copy is of another beginning of the run", differs=True)
    if (
        own in ENDS_BY_ITSELF
        and tried_s(mine)
        and f"wirespeed-undo-{said.run}-try" not in runs.armed
    ):
        return Seen(own, "the timer on the host has ended: --resume asks how")
    return Seen(own)


def _told(run: Path) -> JournalText | None:
    try:
        return read_told(run)
    except LeftChangedError:
        return None
