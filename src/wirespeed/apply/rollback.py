"""Undoes every step that was begun, last first, and reads once more where that is not enough.

a thing that an earlier step made, and that cannot be read: a reboot may have removed it, or it
    never came. When the steps that made it are undone and it still is not there, it is as before.
    So is one that could not be put back, and is gone by then.
a step that was read again in its turn: an earlier step had altered its state. When that one is
    undone too, the state that the plan had found is restored.
a state that is neither the run's nor the original one: others changed it. It is left alone, with
    the steps that it depends on and those that depend on it (theirs.py).
"""

from collections.abc import Mapping

from wirespeed.apply.change_from import is_state
from wirespeed.apply.control import Changed, HostControl
from wirespeed.apply.judge import judged
from wirespeed.apply.read_states import read_states
from wirespeed.apply.record import BEGUN, Record
from wirespeed.apply.theirs import Theirs, foreign_keys, with_dependents
from wirespeed.catalog import read_step
from wirespeed.model.error import HostError
from wirespeed.model.journal import StepProgress, Undoing, Undone, Verified
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.plan import PlannedStep
from wirespeed.model.step import State

Failures = list[tuple[PlannedStep, Undone]]
NOT_THERE = "it is not there, as before"


class Rollback:
    """One undo of one run. `force`: what others changed is undone too."""

    def __init__(
        self, record: Record, controls: Mapping[str, HostControl], *, force: bool = False
    ) -> None:
        self._record, self._controls, self._force = record, controls, force
        self.theirs: dict[int, Theirs] = {}
        """What is left alone, by number of the step."""
        self._silent: dict[str, HostError] = {}
        """Guests that do not answer: each is asked once."""
        self._seen: dict[int, Known[State]] = {}
        """What was read before anything was put back. A change from it compares it once more."""

    def all(self) -> Failures:
        """Undo all; give the steps that are not in their original state, with their outcome."""
        record, gone = self._record, list[int]()
        failures: Failures = []
        self._look()
        for number in reversed(range(len(record.plan.steps))):
            if not self._is_begun(number) or number in self.theirs:
                continue
            found = self._seen_first(number) or self._read(number)
            if self._is_theirs(number, found):
                self._leave_alone({number: found})
                continue
            undone = self._one(number, record.before(number), found)
            if undone is None or self._may_go(number, undone):
                gone.append(number)
            else:
                self._count(number, undone, failures)
        for number in (*gone, *self._altered()):
            self._count(number, self._once_more(number), failures)
        return failures

    def _may_go(self, number: int, undone: Undone) -> bool:
        """Tell whether a thing that an earlier step made is not back, and goes with that step.

        A VF's address for one: qede_set_vf_mac() takes none of zeros, which a new VF has.
        """
        is_made = self._record.plan.steps[number].before is None
        return is_made and undone.verdict not in (Verified.VERIFIED, Verified.CHANGED_MEANWHILE)

    def _count(self, number: int, undone: Undone, failures: Failures) -> None:
        if undone.verdict is Verified.CHANGED_MEANWHILE:
            self.theirs |= with_dependents(self._record, {number: undone.now})
        elif undone.verdict is not Verified.VERIFIED:
            failures.append((self._record.plan.steps[number], undone))

    def _is_begun(self, number: int) -> bool:
        return self._record.intent(number) is not None and self._record.came[number] in BEGUN

    def _look(self) -> None:
        """See what others changed, before anything is put back: it alters what hangs together."""
        record = self._record
        if self._force:
            return
        asked: dict[str, list[int]] = {}
        for number in sorted(record.left):
            if self._is_begun(number) or self._may_be_altered(number):
                asked.setdefault(record.plan.steps[number].host, []).append(number)
        found: dict[int, Observed[State]] = {}
        for host, numbers in asked.items():
            try:
                found |= read_states(record.plan, numbers, self._controls)
            except HostError as error:
                if any(record.plan.steps[number].before is not None for number in numbers):
                    raise
                self._silent[host] = error
        self._leave_alone({n: state for n, state in found.items() if self._is_theirs(n, state)})
        self._seen = {n: state for n, state in found.items() if isinstance(state, Known)}

    def _seen_first(self, number: int) -> Known[State] | None:
        """Give what was read at first: a change from it is refused where it is no longer so.

        None: it is to be read now; so is a state that is the original one already.
        """
        seen = self._seen.get(number)
        return None if seen is None or seen.value == self._record.before(number) else seen

    def _is_theirs(self, number: int, found: Observed[State]) -> bool:
        return self._is_foreign(number, found, self._record.left.get(number))

    def _is_foreign(self, number: int, found: Observed[State], left: State | None) -> bool:
        """Tell whether others made a state, of a step that the run left in the state `left`."""
        record = self._record
        if self._force or left is None or not isinstance(found, Known):
            return False
        before = (record.before(number), record.plan.steps[number].before)
        return bool(foreign_keys(found.value, left, *before))

    def _leave_alone(self, found: Mapping[int, Observed[State]]) -> None:
        states = {n: one.value if isinstance(one, Known) else None for n, one in found.items()}
        for number, theirs in with_dependents(self._record, states).items():
            self.theirs.setdefault(number, theirs)

    def _altered(self) -> list[int]:
        """Give the steps whose thing is not as the plan had found it, though nothing is left to do.

        Either it was read afresh in its turn, or never begun: an earlier step had altered it. Of
        one that several stages have, the first had found it as it was.
        """
        record, first = self._record, {}
        for number, planned in reversed(list(enumerate(record.plan.steps))):
            first[planned.host, read_step(planned.step).model_dump_json()] = number
        asked = [
            number
            for number in first.values()
            if self._may_be_altered(number) and number not in self.theirs
        ]
        found = read_states(record.plan, asked, self._controls)
        return [
            number
            for number, state in found.items()
            if not isinstance(state, Known) or state.value != record.plan.steps[number].before
        ]

    def _may_be_altered(self, number: int) -> bool:
        planned, intent = self._record.plan.steps[number], self._record.intent(number)
        if planned.before is None or self._record.came[number] is StepProgress.FORGOTTEN:
            return False
        return self._record.is_near(number) if intent is None else intent.before != planned.before

    def _one(self, number: int, to: State | None, found: Observed[State]) -> Undone | None:
        """Put one back; None: what it is about is not there, and an earlier step had made it."""
        if to is None:
            raise AssertionError("a step to undo has an intent, and so a state before it")
        left = self._record.left.get(number)
        self._record.write(Undoing(number=number))
        changed = self._change(number, found, to)
        if (
            changed is not None
            and changed.is_stale
            and found is self._seen.get(number)
            and not self._is_foreign(number, changed.now, left)
        ):
            # What was put back since has altered it, though nothing says that it would.
            changed = self._change(number, changed.now, to)
        return None if changed is None else self._undone(number, changed, to)

    def _once_more(self, number: int) -> Undone:
        planned = self._record.plan.steps[number]
        to = self._record.before(number) if planned.before is None else planned.before
        undone = self._one(number, to, self._read(number))
        if undone is None:
            undone = Undone(number=number, verdict=Verified.VERIFIED, now=None, said=NOT_THERE)
            self._record.write(undone)
        return undone

    def _read(self, number: int) -> Observed[State]:
        """Read its state; a guest that is gone with its host's reboot cannot be asked."""
        planned = self._record.plan.steps[number]
        step = read_step(planned.step)
        if planned.host in self._silent:
            return Unreadable(self._silent[planned.host].found, step.read().line())
        try:
            return self._controls[planned.host].read([step])[0]
        except HostError as error:
            if planned.before is not None:
                raise
            self._silent[planned.host] = error
            return Unreadable(error.found, step.read().line())

    def _change(self, number: int, found: Observed[State], to: State) -> Changed | None:
        """Change it from the state that was read; None: it is not there, and was not before."""
        planned = self._record.plan.steps[number]
        step = read_step(planned.step)
        if planned.before is None and not isinstance(found, Known):
            return None
        # What cannot be read is taken to be written: the undo of a state that is back is harmless.
        now = found.value if isinstance(found, Known) else self._record.goal(number)
        if now == to:
            return Changed(failed="", now=found)
        # What cannot be read cannot be compared either.
        is_from = now if isinstance(found, Known) else None
        changed = self._controls[planned.host].change(step, step.change(now, to), is_from)
        # Whoever came between us brought it back.
        is_back = changed.is_stale and is_state(changed.now, to)
        return Changed(failed="", now=changed.now) if is_back else changed

    def _undone(self, number: int, changed: Changed, to: State) -> Undone:
        verdict, now, said = judged(changed, to)
        undone = Undone(number=number, verdict=verdict, now=now, said=said)
        self._record.write(undone)
        return undone
