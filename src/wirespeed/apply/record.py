"""A run as its journal says: how far each step came, what stood there, where it leads."""

from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from wirespeed.catalog import read_step
from wirespeed.model.journal import (
    Begun,
    Entry,
    Intent,
    Result,
    StepProgress,
    Stood,
    Undoing,
    Undone,
    Verified,
    advance,
    progress,
    whole_plan,
    written,
)
from wirespeed.model.plan import Plan
from wirespeed.model.step import State

BEGUN = (StepProgress.DONE, StepProgress.MAYBE_WRITTEN)
SAYS_NOTHING = ("step", "namespace", "reason")
"""Fields of a step that do not name what it is about."""


class Record:
    """The steps of all stages, with what is known of them. `write` makes an entry durable."""

    def __init__(
        self,
        plan: Plan,
        write: Callable[[Entry], None],
        entries: Sequence[Entry],
        rebooted: AbstractSet[str] = frozenset(),
    ) -> None:
        self.plan = plan
        self.entries = list(entries)
        self.rebooted = rebooted
        """Hosts that were rebooted since their stage was begun: what is done may be gone."""
        self._names = [set(names_of(planned.step)) for planned in plan.steps]
        begun = whole_plan(entries)
        self.planned = len(begun.steps) if begun else 0
        """Steps of all stages that were begun."""
        self._write_line = write
        self._lost: set[int] = set()
        """Steps whose writes a reboot took: the journal alone says they are done."""
        self._note_all()

    def _note_all(self) -> None:
        self.came = progress(self.plan, self.entries)
        self._take_lost_as_torn()
        self._intents: dict[int, Intent] = {}
        self._stage_start = 0
        self._about: dict[str, set[str]] = {}
        self._about_all: dict[str, set[str]] = {}
        self._boots: dict[str, str] = {}
        self.left: dict[int, State] = {}
        """How a step was left, by the last reading since which nothing of ours can have altered it.

        A step is not among them whose last write has no known end, nor one of a rebooted host
        whose state may be otherwise by that alone.
        """
        for entry in written(self.entries):
            self._note(entry)
        self._drop_rebooted(self.rebooted)

    def write(self, entry: Entry) -> None:
        """Make an entry durable, and know it."""
        self._write_line(entry)
        self.entries.append(entry)
        if isinstance(entry, Result | Undone) and entry.verdict is Verified.CHANGED_MEANWHILE:
            self._note_all()
        else:
            if isinstance(entry, Result | Undone):
                self._lost.discard(entry.number)
            advance(self.came, entry)
            self._note(entry)

    def lose(self, numbers: Collection[int]) -> None:
        """Take these steps as torn until they are written again: a reboot took what they did."""
        self._lost |= set(numbers)
        self._take_lost_as_torn()

    def _take_lost_as_torn(self) -> None:
        for number in self._lost:
            if self.came[number] is StepProgress.DONE:
                self.came[number] = StepProgress.MAYBE_WRITTEN

    def _note(self, entry: Entry) -> None:
        if isinstance(entry, Begun):
            self._stage_start = self.planned - len(entry.plan.steps)
            self._about = {}
            known = {host: one for host, one in entry.boot_ids.items() if one}
            self._drop_rebooted(
                {host for host, one in known.items() if self._boots.get(host, one) != one}
            )
            self._boots |= known
        elif isinstance(entry, Intent):
            # What stood there first is what undo brings back.
            self._intents.setdefault(entry.number, entry)
            planned = self.plan.steps[entry.number]
            for about in (self._about, self._about_all):
                about.setdefault(planned.host, set()).update(names_of(planned.step))
        self._note_left(entry)

    def _note_left(self, entry: Entry) -> None:
        if isinstance(entry, Intent | Undoing):
            for number in [n for n in self.left if n == entry.number or self.near(n, entry.number)]:
                del self.left[number]
        elif isinstance(entry, Stood):
            self.left |= entry.states
        elif (
            isinstance(entry, Result | Undone)
            and entry.now is not None
            # What undoes it there by itself may not be at its end.
            and entry.verdict is not Verified.CUT_OFF
        ):
            self.left[entry.number] = entry.now

    def _drop_rebooted(self, hosts: AbstractSet[str]) -> None:
        """Forget how their steps were left; a guest's too, whose boot nobody knows. Files stay."""
        if hosts:
            self.left = {n: state for n, state in self.left.items() if self._is_left(n, hosts)}

    def _is_left(self, number: int, rebooted: AbstractSet[str]) -> bool:
        planned = self.plan.steps[number]
        is_up_since = planned.host not in rebooted and planned.host in self._boots
        return is_up_since or read_step(planned.step).outlives_boot

    def near(self, one: int, other: int) -> bool:
        """Tell whether two steps name one of the same things, or one names the other's guest."""
        hosts = self.plan.steps[one].host, self.plan.steps[other].host
        if hosts[0] == hosts[1]:
            return not self._names[one].isdisjoint(self._names[other])
        return hosts[1] in self._names[one] or hosts[0] in self._names[other]

    def begin(self, entry: Begun) -> None:
        """Begin a stage with steps of the plan that no stage had."""
        self.planned += len(entry.plan.steps)
        self.write(entry)

    def intent(self, number: int) -> Intent | None:
        """Give the first intent of a step; None: nothing of it was ever written."""
        return self._intents.get(number)

    def before(self, number: int) -> State | None:
        """Give the state before the step: by its intent, else by the plan."""
        intent = self._intents.get(number)
        return intent.before if intent else self.plan.steps[number].before

    def goal(self, number: int) -> State:
        """Give where it leads: as its intent says, else as the plan does."""
        intent = self._intents.get(number)
        goal = intent.goal if intent else None
        return self.plan.steps[number].goal if goal is None else goal

    def is_touched(self, number: int) -> bool:
        """Tell whether what the plan read may be otherwise by now, by our own doing or a reboot.

        A step of the same stage was written that names one of the things that this one names; or
        the host was rebooted.
        """
        planned = self.plan.steps[number]
        if planned.host in self.rebooted:
            return True
        return not self._about.get(planned.host, set()).isdisjoint(names_of(planned.step))

    def is_touched_before(self, number: int) -> bool:
        """Tell the same of the steps before it alone: what a later one did, is as it is to be."""
        planned = self.plan.steps[number]
        names = set(names_of(planned.step))
        return planned.host in self.rebooted or any(
            self.plan.steps[other].host == planned.host
            and not names.isdisjoint(names_of(self.plan.steps[other].step))
            for other in self._intents
            if self._stage_start <= other < number
        )

    def is_after_others(self, number: int) -> bool:
        """Tell whether another step was written on its host: it may have had effects beside."""
        host = self.plan.steps[number].host
        return any(n != number and self.plan.steps[n].host == host for n in self._intents)

    def is_near(self, number: int) -> bool:
        """Tell whether a step of any stage was written that names one of the same things."""
        planned = self.plan.steps[number]
        return not self._about_all.get(planned.host, set()).isdisjoint(names_of(planned.step))


def names_of(step: dict[str, Any]) -> Iterator[str]:
    """Give every word of a step's fields: netdevs, addresses, paths among them."""
    for key, value in step.items():
        if key not in SAYS_NOTHING:
            yield from _words(value)


def _words(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from names_of(value)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _words(one)
