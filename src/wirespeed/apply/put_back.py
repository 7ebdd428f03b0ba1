"""Puts every step that was begun back, last first, and looks once more where that is not enough.

a thing that an earlier step made, and that cannot be read: it may be gone with a reboot, or
    never have come. When its makers are put back, it is as it was if it still is not there.
a step that was read afresh in its turn: an earlier step had altered what stood there first.
    When that one is put back too, the state that the plan had found is brought back.
"""

from collections.abc import Mapping

from wirespeed.apply.hands import Changed, Hands
from wirespeed.apply.judge import judged
from wirespeed.apply.record import BEGUN, Record
from wirespeed.apply.standing import read_steps
from wirespeed.model.error import HostError
from wirespeed.model.journal import Undoing, Undone, Verified
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.plan import PlannedStep
from wirespeed.model.step import State, Step
from wirespeed.steps.registry import read_step

Failures = list[tuple[PlannedStep, Undone]]
NOT_THERE = "it is not there, as before"


class PutBack:
    """One undo of one run."""

    def __init__(self, record: Record, hands: Mapping[str, Hands]) -> None:
        self._record, self._hands = record, hands
        self._silent: dict[str, HostError] = {}
        """Guests that do not answer: each is asked once."""

    def all(self) -> Failures:
        """Put back all; give the steps that are not as they were, with what became of each."""
        record, failures, gone = self._record, [], []
        for number in reversed(range(len(record.plan.steps))):
            if record.intent(number) is None or record.came[number] not in BEGUN:
                continue
            undone = self._one(number, record.before(number))
            if undone is None:
                gone.append(number)
            elif undone.verdict is not Verified.VERIFIED:
                failures.append((record.plan.steps[number], undone))
        for number in (*gone, *self._altered()):
            undone = self._once_more(number)
            if undone.verdict is not Verified.VERIFIED:
                failures.append((record.plan.steps[number], undone))
        return failures

    def _altered(self) -> list[int]:
        """Give the steps whose thing is not as the plan had found it, though nothing is left to do.

        Either it was read afresh in its turn, or never begun: an earlier step had altered it. Of
        one that several stages have, the first had found it as it was.
        """
        record, first = self._record, {}
        for number, planned in reversed(list(enumerate(record.plan.steps))):
            first[planned.host, read_step(planned.step).model_dump_json()] = number
        asked = [number for number in first.values() if self._may_be_altered(number)]
        found = read_steps(record.plan, asked, self._hands)
        return [
            number
            for number, state in found.items()
            if not isinstance(state, Known) or state.value != record.plan.steps[number].before
        ]

    def _may_be_altered(self, number: int) -> bool:
        planned, intent = self._record.plan.steps[number], self._record.intent(number)
        if planned.before is None:
            return False
        return self._record.is_near(number) if intent is None else intent.before != planned.before

    def _one(self, number: int, to: State | None) -> Undone | None:
        """Put one back; None: what it is about is not there, and an earlier step had made it."""
        planned = self._record.plan.steps[number]
        step = read_step(planned.step)
        if to is None:
            raise AssertionError("what is put back has an intent, and so a state before it")
        self._record.write(Undoing(number=number))
        found = self._read(planned, step)
        if planned.before is None and not isinstance(found, Known):
            return None
        # What cannot be read is taken to be written: the undo of a state that is back is harmless.
        now = found.value if isinstance(found, Known) else self._record.goal(number)
        return self._undone(number, self._change(planned, step, found, now, to), to)

    def _once_more(self, number: int) -> Undone:
        planned = self._record.plan.steps[number]
        to = self._record.before(number) if planned.before is None else planned.before
        undone = self._one(number, to)
        if undone is None:
            undone = Undone(number=number, verdict=Verified.VERIFIED, now=None, said=NOT_THERE)
            self._record.write(undone)
        return undone

    def _read(self, planned: PlannedStep, step: Step) -> Observed[State]:
        """Read its state; a guest that is gone with its host's reboot cannot be asked."""
        if planned.host in self._silent:
            return Unreadable(self._silent[planned.host].found, step.read().line())
        try:
            return self._hands[planned.host].read([step])[0]
        except HostError as error:
            if planned.before is not None:
                raise
            self._silent[planned.host] = error
            return Unreadable(error.found, step.read().line())

    def _change(
        self, planned: PlannedStep, step: Step, found: Observed[State], now: State, to: State
    ) -> Changed:
        if now == to:
            return Changed(failed="", now=found)
        return self._hands[planned.host].change(step, step.change(now, to))

    def _undone(self, number: int, changed: Changed, to: State) -> Undone:
        verdict, now, said = judged(changed, to)
        undone = Undone(number=number, verdict=verdict, now=now, said=said)
        self._record.write(undone)
        return undone
