"""Applies a plan and undoes it: every write is journalled before it is made, and read back after.

    intent (durable) -> change -> fresh reading -> result
        verified: the next step
        anything else: every step that was begun is put back, last first

A run that was killed is finished or undone from its journal alone: a step whose intent is there and
whose result is not may stand in either state or between them, so it is read afresh.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from wirespeed.apply.hands import Changed, Hands
from wirespeed.apply.planner import described
from wirespeed.model.error import ApplyError, LeftChangedError
from wirespeed.model.journal import (
    Begun,
    Ended,
    Entry,
    Intent,
    Result,
    StepProgress,
    Undoing,
    Undone,
    Verified,
    progress,
)
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan, PlannedStep
from wirespeed.model.shown import shown
from wirespeed.model.step import State
from wirespeed.steps.registry import read_step

BEGUN = (StepProgress.DONE, StepProgress.MAYBE_WRITTEN)


class Executor:
    """One run of one plan. `write` makes an entry durable before it returns."""

    def __init__(
        self,
        plan: Plan,
        hands: Mapping[str, Hands],
        write: Callable[[Entry], None],
        now: Callable[[], str],
        entries: Sequence[Entry] = (),
    ) -> None:
        self._plan = plan
        self._hands = hands
        self._write_line = write
        self._now = now
        self._entries = list(entries)

    def apply(self) -> None:
        """Do every step that is not done yet.

        Raises ApplyError `plan.stale` before anything is written when a host is no longer as the
        plan says; ApplyError `step.*` when a step did not lead to its goal and all was put back;
        LeftChangedError when it could not be.
        """
        self._refuse_stale()
        if not self._entries:
            self._write(Begun(at=self._now(), plan=self._plan))
        for number, planned in enumerate(self._plan.steps):
            if planned.no_op or self._progress()[number] is StepProgress.DONE:
                continue
            result = self._do(number, planned)
            if result.verdict is not Verified.VERIFIED:
                self._put_back_after(planned, result)
        self._end("applied")

    def undo(self) -> None:
        """Put back every step that was begun, last first. Raises LeftChangedError."""
        failures = []
        for number in reversed(range(len(self._plan.steps))):
            if self._progress()[number] in BEGUN:
                undone = self._put_back(number, self._plan.steps[number])
                if undone.verdict is not Verified.VERIFIED:
                    failures.append((self._plan.steps[number], undone))
        self._end("left changed" if failures else "undone")
        if failures:
            raise LeftChangedError(
                "host.left_changed",
                where=", ".join(f"{p.subject} on {p.host}" for p, _ in failures),
                found="; ".join(u.said or f"it is {_shown(u.now)}" for _, u in failures),
                so="these are not as they were before",
                next="; ".join(c.line() for p, _ in failures for c in p.undo),
            )

    def _do(self, number: int, planned: PlannedStep) -> Result:
        step = read_step(planned.step)
        hands = self._hands[planned.host]
        before = self._before(number)
        now = before
        if before is None or self._progress()[number] is StepProgress.MAYBE_WRITTEN:
            found = hands.read([step])[0]
            if isinstance(found, Known):
                now = found.value
            elif before is None:
                return self._result(number, planned, Changed(failed="", now=found))
            if before is not None and now == planned.goal:
                return self._result(number, planned, Changed(failed="", now=found))
        if now is None:
            raise AssertionError("a state was read, or is in the plan")
        before = now if before is None else before
        undo = step.change(planned.goal, before)
        self._write(Intent(number=number, before=before, undo=undo))
        return self._result(number, planned, hands.change(step, step.change(now, planned.goal)))

    def _before(self, number: int) -> State | None:
        """Give what stood there: as its intent says, else as the plan does."""
        for entry in self._entries:
            if isinstance(entry, Intent) and entry.number == number:
                return entry.before
        return self._plan.steps[number].before

    def _result(self, number: int, planned: PlannedStep, changed: Changed) -> Result:
        verdict, now, said = _judged(changed, planned.goal)
        result = Result(number=number, verdict=verdict, now=now, said=said)
        self._write(result)
        return result

    def _put_back(self, number: int, planned: PlannedStep) -> Undone:
        step = read_step(planned.step)
        hands = self._hands[planned.host]
        before = self._before(number)
        if before is None:
            raise AssertionError("what is put back has an intent, and so a state before it")
        self._write(Undoing(number=number))
        found = hands.read([step])[0]
        # What cannot be read is taken to be written: the undo of a state that is back is harmless.
        now = found.value if isinstance(found, Known) else planned.goal
        if now == before:
            changed = Changed(failed="", now=found)
        else:
            changed = hands.change(step, step.change(now, before))
        verdict, fresh, said = _judged(changed, before)
        undone = Undone(number=number, verdict=verdict, now=fresh, said=said)
        self._write(undone)
        return undone

    def _put_back_after(self, planned: PlannedStep, result: Result) -> None:
        """Undo all, then say which step was the reason. A failed undo outranks that."""
        self.undo()
        raise ApplyError(
            f"step.{result.verdict.value.replace(' ', '_')}",
            where=f"{planned.subject} on {planned.host}",
            found=result.said or f"it is {_shown(result.now)}, and not {_shown(planned.goal)}",
            so="every step that was done before it was put back",
        )

    def _refuse_stale(self) -> None:
        """Read all that is untouched, in one round trip per host, and compare."""
        untouched = [
            planned
            for planned, came in zip(self._plan.steps, self._progress(), strict=True)
            if came is StepProgress.UNTOUCHED and planned.before is not None
        ]
        for host in dict.fromkeys(planned.host for planned in untouched):
            mine = [planned for planned in untouched if planned.host == host]
            states = self._hands[host].read([read_step(planned.step) for planned in mine])
            for planned, state in zip(mine, states, strict=True):
                if not isinstance(state, Known) or state.value != planned.before:
                    is_now = state.value if isinstance(state, Known) else None
                    why = "" if isinstance(state, Known) else f": {shown(state.reason)}"
                    raise ApplyError(
                        "plan.stale",
                        where=f"{planned.subject} on {host}",
                        found=f"it is {_shown(is_now)}{why}, in the plan {_shown(planned.before)}",
                        so="nothing was changed",
                        next="make the plan again",
                    )

    def _progress(self) -> list[StepProgress]:
        return progress(self._plan, self._entries)

    def _write(self, entry: Entry) -> None:
        self._write_line(entry)
        self._entries.append(entry)

    def _end(self, outcome: Literal["applied", "undone", "left changed"]) -> None:
        self._write(Ended(at=self._now(), outcome=outcome))


def _judged(changed: Changed, goal: State) -> tuple[Verified, State | None, str]:
    """Judge by what the host says now; a command's failure stands even where the state is right."""
    now = changed.now.value if isinstance(changed.now, Known) else None
    if changed.failed:
        return Verified.FAILED, now, changed.failed
    if not isinstance(changed.now, Known):
        return Verified.CANNOT_VERIFY, None, changed.now.reason
    return (Verified.VERIFIED if now == goal else Verified.CONTRADICTED), now, ""


def _shown(state: State | None) -> str:
    return "not known" if state is None else described(state)
