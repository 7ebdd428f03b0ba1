"""Applies a plan and undoes it: every write is journalled before it is made, and read back after.

    intent (durable) -> change -> fresh reading -> result
        verified: the next step
        anything else: every step that was begun is put back, last first

A run that was killed is finished or undone from its journal alone: a step whose intent is there and
whose result is not may stand in either state or between them, so it is read afresh. So is one that
an earlier step of the plan, or a reboot, may have altered.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Literal

from wirespeed.apply.change_from import is_state
from wirespeed.apply.control import Changed, HostControl
from wirespeed.apply.judge import judged, state_text
from wirespeed.apply.left_changed import left_changed
from wirespeed.apply.read_states import read_states, settled
from wirespeed.apply.record import Record
from wirespeed.apply.rollback import Rollback
from wirespeed.catalog import read_step
from wirespeed.host.clock import sleep_s
from wirespeed.model.error import ApplyError, LeftChangedError
from wirespeed.model.journal import (
    Begun,
    Ended,
    Entry,
    Intent,
    Result,
    Staged,
    StepProgress,
    Stood,
    Verified,
)
from wirespeed.model.observed import Known, Observed
from wirespeed.model.plan import Plan, PlannedStep
from wirespeed.model.shown import shown
from wirespeed.model.spec.spec import Spec
from wirespeed.model.step import State

Ending = Literal["ended", "staged", "stopped"]
SETTLING_TRIES = 3
"""How often a state may change by itself between its reading and its write."""


class Executor:
    """One run: `plan` has the steps of all its stages, `entries` is its journal until now.

    `write` makes an entry durable before it returns. `boot_ids` are those of the hosts as they are
    now, and `rebooted` are the hosts that have another one than when the stage was begun. `spec` is
    what the plan was made from: it is kept.
    """

    def __init__(
        self,
        plan: Plan,
        controls: Mapping[str, HostControl],
        write: Callable[[Entry], None],
        now: Callable[[], str],
        entries: Sequence[Entry] = (),
        *,
        boot_ids: Mapping[str, str] | None = None,
        rebooted: AbstractSet[str] = frozenset(),
        spec: Spec | None = None,
    ) -> None:
        self._record = Record(plan, write, entries, rebooted)
        self._controls = controls
        self._now = now
        self._boot_ids = dict(boot_ids or {})
        self._spec = spec

    def apply(self, until: int | None = None) -> Ending:
        """Do every step that is not done yet, up to and with number `until` where it is given.

        Raises ApplyError `plan.stale` before anything is written when a host is no longer as the
        plan says (LeftChangedError if steps of the run are in place already); ApplyError `step.*`
        when a step did not reach its goal and all was undone; LeftChangedError when undo failed.
        """
        record = self._record
        self._find_lost()
        self._refuse_stale()
        if not record.entries or record.planned < len(record.plan.steps):
            stage = record.plan.model_copy(update={"steps": record.plan.steps[record.planned :]})
            ids = self._boot_ids
            record.begin(Begun(at=self._now(), plan=stage, boot_ids=ids, spec=self._spec))
        for number, planned in enumerate(record.plan.steps):
            if record.came[number] is not StepProgress.DONE and not self._is_so_still(number):
                result = self._do_settled(number, planned)
                if result.verdict is not Verified.VERIFIED:
                    self._put_back_after(planned, result)
            if number == until and self._is_left(number):
                return "stopped"
        self._write_how_it_stands()
        later = record.plan.later
        if later:
            ids = self._begun_boot_ids()
            waits = {one.host: ids.get(one.host, "") for one in later if one.needs_reboot}
            record.write(Staged(at=self._now(), waits=waits))
            return "staged"
        record.write(Ended(at=self._now(), outcome="applied"))
        return "ended"

    def undo(self, *, force: bool = False) -> None:
        """Undo every step that was begun, last first. Raises LeftChangedError.

        What others changed since is left alone, with what depends on it; `force`: that is undone
        too.
        """
        record = self._record
        left, roll_back = dict(record.left), Rollback(record, self._controls, force=force)
        failures = roll_back.all()
        is_left = bool(failures or roll_back.theirs)
        if known := {n: left[n] for n in sorted(roll_back.theirs) if n in left}:
            # The next undo has to know it, though what was undone beside it may have altered it.
            record.write(Stood(states=known))
        record.write(Ended(at=self._now(), outcome="left changed" if is_left else "undone"))
        if is_left:
            raise left_changed(record, failures, roll_back.theirs, left)

    def _is_so_still(self, number: int) -> bool:
        """Tell whether a step with nothing to do has nothing to do: an earlier one may alter it."""
        planned = self._record.plan.steps[number]
        if not planned.no_op or not self._record.is_touched_before(number):
            return bool(planned.no_op)
        found = self._controls[planned.host].read([read_step(planned.step)])[0]
        return isinstance(found, Known) and found.value == planned.goal

    def _do_settled(self, number: int, planned: PlannedStep) -> Result:
        """Do a step; once more where what steps of the run made or altered changed by itself.

        A driver that the kernel binds to a new VF gives it an address a moment after it is there;
        one whose link comes up sets flow control as it was negotiated.
        """
        result = self._do(number, planned)
        for _ in range(SETTLING_TRIES):
            is_ours = planned.before is None or self._record.is_touched(number)
            again_s = read_step(planned.step).again_s
            if result.verdict is Verified.CONTRADICTED and again_s:
                sleep_s(again_s)
            elif result.verdict is not Verified.CHANGED_MEANWHILE or not is_ours:
                break
            result = self._do(number, planned)
        return result

    def _do(self, number: int, planned: PlannedStep) -> Result:
        record, step, controls = self._record, read_step(planned.step), self._controls[planned.host]
        is_untouched = record.came[number] is StepProgress.UNTOUCHED
        was_written = record.intent(number) is not None
        before, goal = record.before(number), record.goal(number)
        now = before
        if before is None or not is_untouched or record.is_touched(number):
            found = controls.read([step])[0]
            if before is None:
                # What an earlier step makes may be there a little later: a netdev that udev names.
                found = settled(controls.read, step, Changed(failed="", now=found)).now
            if isinstance(found, Known):
                now = found.value
                if not was_written:
                    before, goal = now, step.wanted(now)
                if now == goal:
                    return self._result(number, Changed(failed="", now=found), goal)
            elif not was_written:
                return self._result(number, Changed(failed="", now=found), goal)
        if now is None or before is None:
            raise AssertionError("a state was read, or is in the plan")
        undo = step.change(goal, before)
        record.write(Intent(number=number, before=before, undo=undo, goal=goal))
        changed = controls.change(step, step.change(now, goal), now)
        if changed.is_stale and is_state(changed.now, goal) and record.is_after_others(number):
            # An earlier step led there too: a module that was loaded loads those it stands on.
            changed = replace(changed, is_stale=False)
        return self._result(number, changed, goal)

    def _result(self, number: int, changed: Changed, goal: State) -> Result:
        verdict, now, said = judged(changed, goal)
        result = Result(number=number, verdict=verdict, now=now, said=said)
        self._record.write(result)
        if changed.is_theirs:
            # So that undo knows it too, which is next.
            self._record.write(Stood(states={number: goal}))
        return result

    def _put_back_after(self, planned: PlannedStep, result: Result) -> None:
        """Undo all, then say which step was the reason. A failed undo outranks that."""
        intents = [entry for entry in self._record.entries if isinstance(entry, Intent)]
        before = intents[-1].before if intents else None
        self.undo()
        where = f"{planned.subject} on {planned.host}"
        if result.verdict is Verified.CHANGED_MEANWHILE:
            raise _changed_meanwhile(where, before, result)
        raise ApplyError(
            f"step.{result.verdict.value.replace(' ', '_')}",
            where=where,
            found=result.said
            or f"it is {state_text(result.now)}, expected {state_text(planned.goal)}",
            so="all earlier steps were undone",
            next=read_step(planned.step).explained(result.said),
        )

    def _is_left(self, number: int) -> bool:
        record = self._record
        rest = range(number + 1, len(record.plan.steps))
        return bool(record.plan.later) or any(
            not record.plan.steps[n].no_op and record.came[n] is not StepProgress.DONE for n in rest
        )

    def _begun_boot_ids(self) -> dict[str, str]:
        """Give those of the stage's begin: a reboot since then is the one that was waited for."""
        begun = [entry for entry in self._record.entries if isinstance(entry, Begun)]
        return begun[-1].boot_ids if begun else {}

    def _find_lost(self) -> None:
        """Find what was done on a host, and is gone since it was rebooted: it is done again."""
        record = self._record
        asked = [
            number
            for number, planned in enumerate(record.plan.steps)
            if planned.host in record.rebooted and record.came[number] is StepProgress.DONE
        ]
        found = read_states(record.plan, asked, self._controls)
        record.lose([n for n, state in found.items() if not _is_known(state, record.goal(n))])

    def _refuse_stale(self) -> None:
        """Read all that is untouched, in one round trip per host, and compare."""
        record = self._record
        untouched = [
            number
            for number, planned in enumerate(record.plan.steps)
            if record.came[number] is StepProgress.UNTOUCHED
            and planned.before is not None
            and not record.is_touched(number)
        ]
        for number, state in read_states(record.plan, untouched, self._controls).items():
            planned = record.plan.steps[number]
            if not isinstance(state, Known) or state.value != planned.before:
                raise _stale(
                    planned, state, sum(c is not StepProgress.UNTOUCHED for c in record.came)
                )

    def _write_how_it_stands(self) -> None:
        record = self._record
        if not any(came is StepProgress.DONE for came in record.came):
            return
        steps = enumerate(zip(record.plan.steps, record.came, strict=True))
        stand = [n for n, (planned, came) in steps if planned.no_op or came is StepProgress.DONE]
        read = read_states(record.plan, stand, self._controls)
        known = {n: state.value for n, state in read.items() if isinstance(state, Known)}
        record.write(Stood(states=known))


def _is_known(state: Observed[State], goal: State) -> bool:
    return isinstance(state, Known) and state.value == goal


def _changed_meanwhile(where: str, before: State | None, result: Result) -> ApplyError:
    why = f": {shown(result.said)}" if result.said else ""
    return ApplyError(
        "step.changed_meanwhile",
        where=where,
        found=f"it was {state_text(before)} in the plan, and {state_text(result.now)} just before "
        f"the change{why}",
        so="it was not changed; all earlier steps were undone",
        next="find out what changed it; then apply again",
    )


def _stale(
    planned: PlannedStep, state: Observed[State], written: int
) -> ApplyError | LeftChangedError:
    is_now = state.value if isinstance(state, Known) else None
    why = "" if isinstance(state, Known) else f": {shown(state.reason)}"
    where = f"{planned.subject} on {planned.host}"
    found = f"it is {state_text(is_now)}{why}, in the plan {state_text(planned.before)}"
    if written:
        return LeftChangedError(
            "plan.stale",
            where=where,
            found=found,
            so=f"nothing more was changed; {written} earlier steps of the run are in force",
            next="undo them with `wirespeed undo`; then apply again",
        )
    return ApplyError(
        "plan.stale", where=where, found=found, so="nothing was changed", next="make the plan again"
    )
