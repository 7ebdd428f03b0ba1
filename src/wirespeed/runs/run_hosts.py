"""The hosts of a run: locked for it, changed by it, unlocked; each step is logged."""

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from wirespeed.apply.claim import Claim
from wirespeed.apply.control import CopyKeeper, HostControl, Lockable
from wirespeed.apply.control_boot import Rebootable
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.executor import Ending, Executor
from wirespeed.apply.forget import forgotten
from wirespeed.apply.guard_timer_control import CONFIRM_WITHIN_S, with_rollback
from wirespeed.apply.heal import heal
from wirespeed.apply.host_copy import MAX_OF, About, HostCopy
from wirespeed.apply.interrupted import interrupted
from wirespeed.apply.run import Run
from wirespeed.host.clock import utc_now
from wirespeed.host.files import is_file
from wirespeed.host.identity import lives, owner_of
from wirespeed.host.reach_destination import Recorded, parse_destination
from wirespeed.model.error import (
    ApplyError,
    HostError,
    InputError,
    LeftChangedError,
    MeasurementError,
    WirespeedError,
)
from wirespeed.model.journal import (
    Begun,
    Entry,
    Forgotten,
    Result,
    Staged,
    StepProgress,
    Undone,
    progress,
)
from wirespeed.model.owner import MAX_LINE
from wirespeed.model.plan import Plan
from wirespeed.model.spec.spec import Spec
from wirespeed.runs import tryout
from wirespeed.runs.hosts_of_spec import read_spec
from wirespeed.terminal import echo

REBOOT_DUE = 4
"""Exit code: a stage is done, and a host is to be rebooted before the next."""


@dataclass(frozen=True, slots=True)
class HowUndone:
    """What undo does where something is neither as the run left it nor as it was before."""

    force: bool = False
    """What others changed is undone too."""
    forget: tuple[str, ...] = ()
    """Steps that are forgotten, by number, or by kind and subject."""


AS_EVER = HowUndone()


class HostLocks(ExitStack):
    """Hosts that no other run may change until it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.boot_ids: dict[str, str] = {}
        self.left_alone: list[str] = []
        """Hosts that left the step alone which was armed when the run's controller was killed."""
        self.copies: list[HostCopy] = []
        """Of the run's journal, on the hosts that keep one."""

    def refuse_other_copies(self) -> None:
        """Raise InputError `host.copy_differs`, `run.behind` before anything new is changed."""
        for copy in self.copies:
            copy.refuse_other()


def spec_of_run(path: Path, spec: Spec | None) -> Spec:
    """Give the spec by which the hosts of a run are reached: the file's, else its own, `spec`.

    A file that was taken when the run was begun may be refused by now: that keeps no run from its
    undo. Raises InputError `file.unreadable`, `spec.*` where the run has no spec of its own.
    """
    if spec is not None and not is_file(path):
        return spec
    try:
        return read_spec(path)
    except InputError as error:
        if spec is None or not error.what.startswith("spec."):
            raise
        echo(f"{path} is refused ({error.found}): the spec in the journal is used", err=True)
        return spec


def lock_hosts(run: Run, controls: Mapping[str, HostControl]) -> HostLocks:
    """Take every host for the run, and give them back at the end. A switch has no lock."""
    refuse_missing_hosts(run.folder, run.plan, controls)
    claim = claim_of(run)
    stack = HostLocks()
    try:
        for place, control in controls.items():
            if isinstance(control, Lockable):
                if isinstance(control, CopyKeeper) and control.keeps_copy:
                    stack.copies.append(_copy_of(run, place, claim))
                    control.keep_copy(stack.copies[-1])
                stack.boot_ids[place] = control.lock(claim)
                if isinstance(control, PosixControl) and control.has_left_alone:
                    stack.left_alone.append(place)
                stack.callback(_unlock, place, control, claim)
    except BaseException:
        stack.close()
        raise
    return stack


def _copy_of(run: Run, place: str, claim: Claim) -> HostCopy:
    about = About(owner=claim.line()[:MAX_LINE], of=run.of[:MAX_OF])
    return HostCopy(place, run.id, about, run.entries, run.former, claim.tell, name=run.copy_name)


def catch_up(run: Run, plan: Plan, held: HostLocks) -> None:
    """Learn what hosts were undone from their own copies. Raises InputError `run.behind`."""
    for copy in held.copies:
        copy.catch_up(plan, run.write)


def claim_of(run: Run) -> Claim:
    """Give a run's claim on its hosts. A lock of an older wirespeed has the folder's path."""
    return Claim(
        owner_of(run.id, run.folder),
        former=(str(run.folder.resolve()),) if run.is_older else (),
        breaks=run.breaks,
        lives=lives,
        tell=lambda text: echo(text, err=True),
    )


def refuse_missing_hosts(folder: Path, plan: Plan | None, controls: Container[str]) -> None:
    """Raise InputError `run.of_another_spec` where a run's host cannot be reached by the spec."""
    planned = {step.host for step in plan.steps} if plan else set()
    if missing := sorted(host for host in planned if host not in controls):
        raise InputError(
            "run.of_another_spec",
            where=str(folder),
            found=f"its plan has hosts that the spec does not name: {', '.join(missing)}",
            so="wirespeed does not know how to reach them",
            next="give the spec that it was made from, or the run folder itself",
        )


def _unlock(place: str, control: Lockable, claim: Claim) -> None:
    try:
        control.unlock(claim)
    except (HostError, MeasurementError) as error:
        # What is said of the run itself is more than that.
        echo(f"{place} is still locked by this run: {error.what}: {error.found}", err=True)


def apply_plan(
    run: Run,
    plan: Plan,
    controls: Mapping[str, HostControl],
    within_s: int = CONFIRM_WITHIN_S,
    *,
    spec: Spec | None = None,
    until: int | None = None,
    name: str = "",
    try_s: int = 0,
    then: Callable[[], None] = lambda: None,
) -> Ending:
    """Apply a plan of all stages until now, up to the end of the last, telling of each step.

    With `try_s`, its hosts take all of it back unless it is confirmed within these seconds.
    `then` is called while the hosts are still locked. `change_hosts` alone calls this: what is
    applied has passed the gate.
    """
    name = name or str(run.folder)
    with lock_hosts(run, controls) as held:
        held.refuse_other_copies()
        write = log_progress(run, plan)
        if try_s:
            if gone := tryout.gone_back(run, plan, controls):
                roll_back(run, plan, controls, name, held)
                raise tryout.went_back(gone, try_s, name)
            tryout.start(run, plan, controls, try_s)
            write = tryout.noting(run, plan, controls, try_s, write)
        begun = [entry for entry in run.entries if isinstance(entry, Begun)]
        # A stage that is begun now was planned after the reboot.
        is_begun = run.plan is not None and len(run.plan.steps) == len(plan.steps)
        before = begun[-1].boot_ids if is_begun else {}
        executor = Executor(
            plan,
            with_rollback(plan, controls, within_s),
            write,
            utc_now,
            run.entries,
            boot_ids=held.boot_ids,
            rebooted=rebooted(before, held.boot_ids),
            spec=spec,
        )
        try:
            ending = executor.apply(until)
            then()
            return ending
        except ApplyError:
            if run.outcome in ("undone", "new"):
                tryout.end(run, plan, controls, try_s)
                tryout.forget(run, plan, controls)
            raise
        except LeftChangedError:
            raise
        except WirespeedError as error:
            raise interrupted(error, run.entries, name) or error from None


def undo_plan(
    run: Run,
    plan: Plan,
    controls: Mapping[str, HostControl],
    name: str,
    how: HowUndone = AS_EVER,
) -> None:
    """Undo a run, telling of each step. Raises InputError `forget.*`."""
    with lock_hosts(run, controls) as held:
        roll_back(run, plan, controls, name, held, how)


def roll_back(
    run: Run,
    plan: Plan,
    controls: Mapping[str, HostControl],
    name: str,
    held: HostLocks,
    how: HowUndone = AS_EVER,
) -> None:
    """Undo a run whose hosts are locked. What a host has undone itself is read, and noted."""
    if any(copy.is_needed for copy in held.copies):
        heal(run, held.copies)
        plan = run.plan or plan
    catch_up(run, plan, held)
    for place in held.left_alone:
        mine = [n for n, step in enumerate(plan.steps) if step.host == place]
        torn = progress(plan, run.entries)
        pending = [n for n in mine if torn[n] is StepProgress.MAYBE_WRITTEN]
        tryout.note_left_alone(run, plan, place, pending)
    forget_steps(run, plan, how)
    try:
        tryout.end(run, plan, controls)
        undo_locked(run, plan, controls, held, force=how.force)
        tryout.forget(run, plan, controls)
    except LeftChangedError:
        raise
    except WirespeedError as error:
        raise interrupted(error, run.entries, name) or error from None


def forget_steps(run: Run, plan: Plan, how: HowUndone) -> None:
    """Let go of the steps that the user names. Raises InputError `forget.*`."""
    write = log_progress(run, plan)
    for number in forgotten(plan, progress(plan, run.entries), how.forget):
        write(Forgotten(number=number))


def undo_locked(
    run: Run,
    plan: Plan,
    controls: Mapping[str, HostControl],
    held: HostLocks,
    *,
    force: bool = False,
) -> None:
    """Undo a run whose hosts are locked, telling of each step."""
    begun = [entry for entry in run.entries if isinstance(entry, Begun)]
    since = rebooted(begun[-1].boot_ids if begun else {}, held.boot_ids)
    write = log_progress(run, plan)
    Executor(plan, controls, write, utc_now, run.entries, rebooted=since).undo(force=force)


def rebooted(before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Give the hosts whose boot is another one; of an unknown boot nothing is said."""
    return {host for host, one in now.items() if one and before.get(host, one) not in ("", one)}


def still_to_reboot(
    entries: Sequence[Entry], controls: Mapping[str, HostControl]
) -> dict[str, str]:
    """Give the hosts that a run waits for, each with the id of the boot that it is still in.

    Empty: the run does not wait. A boot that cannot be read is taken to be the same.
    """
    last = entries[-1] if entries else None
    if not isinstance(last, Staged):
        return {}
    due = {}
    for host, before in last.waits.items():
        control = controls[host]
        now = control.boot_id() if isinstance(control, Rebootable) else ""
        if now in ("", before):
            due[host] = now
    return due


def rebooted_since(entries: Sequence[Entry], controls: Mapping[str, HostControl]) -> set[str]:
    """Give the hosts that were rebooted since the last stage of a run began."""
    begun = [entry for entry in entries if isinstance(entry, Begun)]
    before = begun[-1].boot_ids if begun else {}
    asked = {host: controls[host] for host in before if host in controls}
    return rebooted(
        before, {h: one.boot_id() for h, one in asked.items() if isinstance(one, Rebootable)}
    )


def live_hosts(spec: Spec) -> list[str]:
    """Give the hosts of a spec that are no captures in files."""
    return [
        name
        for name, host in spec.hosts.items()
        if not isinstance(parse_destination(host.reach), Recorded)
    ]


def log_progress(run: Run, plan: Plan) -> Callable[[Entry], None]:
    """Write an entry, then say what it means."""

    def write(entry: Entry) -> None:
        run.write(entry)
        if isinstance(entry, Forgotten):
            planned_step = plan.steps[entry.number]
            echo(f"  {'forgotten':<13} {planned_step.name} on {planned_step.host}")
        if isinstance(entry, Result | Undone):
            planned_step = plan.steps[entry.number]
            what = f"{planned_step.name} on {planned_step.host}"
            word = entry.verdict.value
            if isinstance(entry, Undone) and entry.verdict == "verified":
                word = "restored"
            echo(f"  {word:<13} {what}")

    return write
