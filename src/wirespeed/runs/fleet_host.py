"""One host of a fleet: its spec applied and kept, or taken back; what it says goes to its log.

FOLDER/hosts/NAME/spec.yaml    the spec, filled in for this host
FOLDER/hosts/NAME/run-1/       the journal: as of any other run, `wirespeed undo` takes it too
FOLDER/hosts/NAME/log          what was printed
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from wirespeed.apply.gate import Consents
from wirespeed.apply.run import is_run, open_run, read_journal
from wirespeed.host.files import append_text, make_run_folder
from wirespeed.model.error import InputError, LeftChangedError, WirespeedError
from wirespeed.model.journal import outcome
from wirespeed.runs.apply_run import Applying, How
from wirespeed.runs.fleet_recover import RUN, number_of, recover
from wirespeed.runs.hosts_of_spec import controls_of, read_spec
from wirespeed.runs.keep_run import keep
from wirespeed.runs.resume_spec import spec_to_go_on_with
from wirespeed.runs.run_hosts import AS_EVER, REBOOT_DUE
from wirespeed.runs.undo_run import undo_run
from wirespeed.terminal import diverted, echo

WENT_BACK = "try.went_back"
TRIES = 2
"""A host that has taken a former try back is begun again once."""


class Stand(StrEnum):
    """State of a host in a change; the hosts of a wave are counted by it."""

    START = "at start"
    """As it was before: never begun, or undone."""
    GOAL = "at goal"
    WAITING = "not confirmed"
    """At its goal; the host undoes it by itself unless it is confirmed."""
    UNDER_WAY = "under way"
    """Begun and not ended: its timer undoes it, or --resume continues it."""
    REBOOT_DUE = "reboot due"
    LEFT_CHANGED = "left changed"
    NOT_KNOWN = "not known"
    """It could not be asked."""


STANDS = {
    "new": Stand.START, "undone": Stand.START, "applied": Stand.GOAL,
    "unconfirmed": Stand.WAITING, "unfinished": Stand.UNDER_WAY, "staged": Stand.REBOOT_DUE,
    "left changed": Stand.LEFT_CHANGED,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class HostResult:
    """What came of one host."""

    name: str
    stand: Stand
    what: str = ""
    """Slug of the error; empty: it went as it should."""
    found: str = ""


@dataclass(frozen=True, slots=True)
class HostJob:
    """A host of a fleet, and how it is changed."""

    name: str
    folder: Path
    try_s: int
    within_s: int
    allow_cutoff: bool = False
    allow_no_undo: bool = False
    breaks_lock: bool = False
    is_resumed: bool = False
    """Whether it may have been begun before: the host is asked for runs that are lost here."""

    @property
    def spec(self) -> Path:
        """The file of its spec."""
        return self.folder / "spec.yaml"

    @property
    def runs(self) -> list[Path]:
        """The folders of its runs, the last first; none may be there."""
        found = [p for p in self.folder.glob("run-*") if RUN.fullmatch(p.name) and is_run(p)]
        return sorted(found, key=number_of, reverse=True)

    @property
    def run(self) -> Path:
        """The folder of its last run; it may not be there yet."""
        return next(iter(self.runs), self.folder / "run-1")

    @property
    def standing(self) -> Path:
        """The folder of the last run that is not undone, else of the last one."""
        return next((run for run in self.runs if _stand(run) is not Stand.START), self.run)

    @property
    def next_run(self) -> Path:
        """The folder of the run that an apply goes on with, or begins."""
        runs = self.runs
        if runs and outcome(read_journal(runs[0])) != "undone":
            return runs[0]
        return self.folder / f"run-{number_of(runs[0]) + 1 if runs else 1}"


def stand_of(job: HostJob) -> Stand:
    """Give the state of a host, by its journals alone: that of the last run that is not undone."""
    return next((how for run in job.runs if (how := _stand(run)) is not Stand.START), Stand.START)


def _stand(run: Path) -> Stand:
    try:
        return STANDS[outcome(read_journal(run))]
    except LeftChangedError:
        return Stand.LEFT_CHANGED


def apply_host(job: HostJob) -> HostResult:
    """Apply its spec, and keep it once all of it is verified; else the host undoes it."""
    return _told(job, _apply)


def undo_host(job: HostJob) -> HostResult:
    """Undo the host's run."""
    return _told(job, _undo)


def _told(job: HostJob, do: Callable[[HostJob], bool]) -> HostResult:
    is_as_wanted = False
    make_run_folder(job.folder)

    def log(text: str) -> None:
        # A disk that is full ends no change halfway: its journal, which says what is done, does.
        with suppress(InputError):
            append_text(job.folder / "log", text)

    with diverted(log):
        try:
            is_as_wanted = do(job)
            what = found = ""
        except WirespeedError as error:
            what, found = error.what, error.found
            echo(f"{error.what} {error.where}: {error.found}; {error.so}; {error.next}")
    return HostResult(job.name, Stand.GOAL if is_as_wanted else stand_of(job), what, found)


def _apply(job: HostJob) -> bool:
    """Apply; True: it was at its goal, and nothing was to be done."""
    for left in reversed(range(TRIES)):
        try:
            return _apply_once(job)
        except WirespeedError as error:
            if error.what != WENT_BACK or not left:
                raise
            echo(f"{job.name}: the host undid the former try; trying again")
    raise AssertionError("the last try returns or raises")


def _apply_once(job: HostJob) -> bool:
    consents = Consents(allow_cutoff=job.allow_cutoff, allow_no_undo=job.allow_no_undo)
    how = How(
        job.spec,
        None,
        yes=True,
        reboot=False,
        within_s=job.within_s,
        consents=consents,
        try_s=job.try_s,
    )
    wanted = read_spec(job.spec)
    if job.is_resumed:
        recover(job.folder, job.spec)
    with open_run(job.next_run, breaks=job.breaks_lock, of=f"fleet: {job.name}") as run:
        if run.outcome == "applied":
            return True
        wanted = spec_to_go_on_with(run, wanted, job.spec, as_begun=False)
        with controls_of(wanted) as controls:
            code = Applying(wanted, run, controls, how).go()
            if run.plan is not None and run.outcome == "unconfirmed":
                keep(run, run.plan, controls, str(job.spec))
        is_as_wanted = code == 0 and run.outcome in ("new", "undone")
    if code == REBOOT_DUE:
        raise WirespeedError(
            "fleet.reboot_due",
            where=job.name,
            found="a stage of its spec ends with a reboot",
            next=f"run `wirespeed apply {job.spec} --run {job.run} --reboot`",
        )
    return is_as_wanted


def _undo(job: HostJob) -> bool:
    recover(job.folder, job.spec)
    for run in job.runs:
        if _stand(run) is not Stand.START:
            undo_run(run, job.spec, AS_EVER, breaks=job.breaks_lock)
    return False
