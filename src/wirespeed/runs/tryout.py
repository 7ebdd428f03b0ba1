"""A run that its hosts take back unless it is confirmed: started, noted, confirmed, taken back."""

from collections.abc import Callable, Mapping, Sequence

from wirespeed.apply.control import HostControl
from wirespeed.apply.control_guest import GuestControl
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.record import Record
from wirespeed.apply.run import Run
from wirespeed.apply.theirs import hanging
from wirespeed.apply.tryout_notes import Note, digest_of
from wirespeed.apply.tryout_script import Tryout
from wirespeed.catalog import read_step
from wirespeed.host.identity import owner_of
from wirespeed.model.error import ApplyError, InputError, LeftChangedError
from wirespeed.model.journal import Begun, Ended, Entry, Intent, StepProgress, Stood, tried_s
from wirespeed.model.plan import Plan
from wirespeed.terminal import echo

HAS_GONE_BACK = (Tryout.UNDONE, Tryout.UNDOING)


def tried_hosts(plan: Plan, controls: Mapping[str, HostControl]) -> dict[str, PosixControl]:
    """Give the hosts that a plan changes. A virtual machine goes with its host's steps.

    Raises InputError `try.not_there` for one that cannot take a run back by itself.
    """
    todo = dict.fromkeys(step.host for step in plan.steps if not step.no_op)
    found = {
        place: controls[place] for place in todo if not isinstance(controls[place], GuestControl)
    }
    able = {p: h for p, h in found.items() if isinstance(h, PosixControl) and h.can_be_tried}
    if missing := [place for place in found if place not in able]:
        raise InputError(
            "try.not_there",
            where=", ".join(missing),
            found="not a Linux host: it cannot undo a whole run by itself",
            so="nothing was changed",
            next="apply without --try; on Windows --allow-cutoff protects single steps",
        )
    return able


def refuse_begun_without(run: Run, seconds: int) -> None:
    """Raise InputError `try.begun_without`: what was done before could not go back by itself."""
    if seconds and run.outcome in ("unfinished", "staged") and not tried_s(run.entries):
        raise InputError(
            "try.begun_without",
            where=str(run.folder),
            found="its run was started without --try, and some of its steps may be in force",
            so="the hosts could not undo those steps by themselves; nothing more was changed",
            next="finish it without --try, or run `wirespeed undo` first",
        )


def start(run: Run, plan: Plan, controls: Mapping[str, HostControl], seconds: int) -> None:
    """Have every host undo the run unless it is confirmed in time, before the first change.

    Raises ApplyError `try.not_started`. The hosts must be taken.
    """
    owner, is_tried = owner_of(run.id, run.folder), bool(tried_s(run.entries))
    for place, control in tried_hosts(plan, controls).items():
        reason = control.start_tryout(owner, seconds)
        # A controller that was killed before the journal's first line left a timer that took
        # nothing back: the run is as new on that host.
        if reason and not is_tried and control.ask_tryout()[0] is Tryout.UNDONE:
            control.forget_tryout()
            reason = control.start_tryout(owner, seconds)
        if reason:
            raise ApplyError(
                "try.not_started",
                where=place,
                found=reason,
                so="nothing more was changed; running timers undo what was changed",
                next=f"run `wirespeed undo {run.folder}`, then apply without --try",
            )
        if not control.survives_reboot:
            echo(
                f"{place}: no systemd runs there, so its timer does not survive a reboot; after a "
                "reboot, `wirespeed undo` undoes what is still applied",
                err=True,
            )


def noting(
    run: Run,
    plan: Plan,
    controls: Mapping[str, HostControl],
    seconds: int,
    write: Callable[[Entry], None],
) -> Callable[[Entry], None]:
    """Write entries of a run that is tried; each intent's undo goes to its host with the change."""
    record = Record(plan, lambda _: None, run.entries)

    def noted(entry: Entry) -> None:
        if isinstance(entry, Begun):
            entry = entry.model_copy(update={"try_s": seconds})
        elif isinstance(entry, Ended) and entry.outcome == "applied":
            entry = entry.model_copy(update={"outcome": "unconfirmed"})
        write(entry)
        if isinstance(entry, Begun):
            record.begin(entry)
        else:
            record.write(entry)
        if isinstance(entry, Intent):
            control = controls[plan.steps[entry.number].host]
            if isinstance(control, PosixControl):
                control.note_undo(_note(record, entry, len(run.entries)))
        elif isinstance(entry, Stood) and _is_all_done(record):
            for place, control in tried_hosts(plan, controls).items():
                mine = [n for n, step in enumerate(plan.steps) if step.host == place]
                known = {_digest(plan, n) for n in mine if n in entry.states}
                control.note_left(known, {_digest(plan, n) for n in mine} - known)

    return noted


def _is_all_done(record: Record) -> bool:
    steps = zip(record.plan.steps, record.came, strict=True)
    return all(step.no_op or came is StepProgress.DONE for step, came in steps)


def _note(record: Record, intent: Intent, number: int) -> Note:
    planned, here = intent.number, record.plan.steps[intent.number]
    others = [
        other
        for other, step in enumerate(record.plan.steps)
        if other != planned and step.host == here.host and record.intent(other) is not None
    ]
    near = [_digest(record.plan, other) for other in others if record.near(other, planned)]
    hangs = [_digest(record.plan, one) for one in hanging(record, planned) if one in others]
    return Note(number, read_step(here.step), intent.undo, near, hangs)


def _digest(plan: Plan, number: int) -> str:
    return digest_of(read_step(plan.steps[number].step))


def gone_back(run: Run, plan: Plan, controls: Mapping[str, HostControl]) -> list[str]:
    """Give the hosts that have undone the run; the timers of the others start again."""
    if not tried_s(run.entries):
        return []
    found = {place: h.ask_tryout()[0] for place, h in tried_hosts(plan, controls).items()}
    return [place for place, how in found.items() if how in HAS_GONE_BACK]


def end(run: Run, plan: Plan, controls: Mapping[str, HostControl], seconds: int = 0) -> list[str]:
    """End every timer of a run that is tried, or is to be; give the hosts where it has gone back.

    Raises LeftChangedError `try.undoing` if a host has not finished its undo in time.
    """
    if not (seconds or tried_s(run.entries)):
        return []
    gone = []
    for place, control in tried_hosts(plan, controls).items():
        how, failed, left = control.end_tryout()
        _tell_left(place, left)
        if how in (Tryout.UNDOING, Tryout.UNKNOWN):
            raise LeftChangedError(
                "try.undoing",
                where=place,
                found="the host is undoing the run itself, and has not finished",
                so="no other run may change the host meanwhile",
                next=f"run `wirespeed undo {run.folder}` in a minute",
            )
        if how is Tryout.UNDONE:
            said = ", but some of its undo commands failed" if failed else ""
            echo(
                f"{place}: not confirmed in time, so the host undid the run itself{said}", err=True
            )
            steps = [n for n, step in enumerate(plan.steps) if step.host == place]
            alone = [n for n in steps if _digest(plan, n) in control.left_alone]
            note_left_alone(run, plan, place, alone)
            gone.append(place)
    return gone


def note_left_alone(run: Run, plan: Plan, place: str, numbers: Sequence[int]) -> None:
    """Say which steps a host left alone, and let undo know how the run had left them.

    A controller that was killed did not write that: the host knew it by its own reading.
    """
    record = Record(plan, lambda _: None, run.entries)
    alone = [number for number in numbers if record.intent(number) is not None]
    for number in alone:
        name = f"step {number + 1} {plan.steps[number].name}"
        said = "others changed it, or what hangs together with it, since the run set it"
        echo(f"{place}: it left {name} alone: {said}", err=True)
    if unknown := [number for number in alone if number not in record.left]:
        run.write(Stood(states={number: record.goal(number) for number in unknown}))


def forget(run: Run, plan: Plan, controls: Mapping[str, HostControl]) -> None:
    """Remove what is left of it on the hosts, when the journal says that all is undone."""
    if tried_s(run.entries):
        for place, control in tried_hosts(plan, controls).items():
            _tell_left(place, control.forget_tryout())


def _tell_left(place: str, reason: str) -> None:
    if reason:
        echo(f"{place}: something of its timer could not be removed: {reason}", err=True)


def went_back(places: list[str], seconds: int, name: str) -> ApplyError:
    """Give the error of a run that was not confirmed in time, after all of it was undone."""
    return ApplyError(
        "try.went_back",
        where=", ".join(places),
        found=f"the run was not confirmed within {seconds} s, and the host undid it",
        so="the whole run was undone, on every host",
        next=f"run `wirespeed apply {name} --try SECONDS` with more seconds, then `wirespeed "
        "confirm`",
    )
