"""Hands that do a step which may cut us off under its timer, and all else as ever."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from wirespeed.apply.hands import Changed, Hands
from wirespeed.catalog import read_step
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed
from wirespeed.model.plan import Plan
from wirespeed.model.step import State, Step

CONFIRM_WITHIN_S = 60
"""How long a host waits for us to come back before it undoes the step."""


class TimedHands(Hands, Protocol):
    """One host that can undo a change itself."""

    def change_or_undone(
        self,
        step: Step,
        commands: Sequence[Command],
        undo: Sequence[Command],
        within_s: int,
        now: State | None = None,
    ) -> Changed:
        """Do as `change`; the host runs `undo` unless a new connection comes within `within_s`."""
        ...


class GuardedHands:
    """The hands of one host, for a plan some of whose steps `cuts` marks."""

    def __init__(self, hands: TimedHands, steps: Sequence[Step], within_s: int) -> None:
        self._hands, self._steps, self._within_s = hands, steps, within_s

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        """See `Hands.read`."""
        return self._hands.read(steps)

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        """See `Hands.change`. What leads back to a state that we could reach needs no timer."""
        if step in self._steps:
            if now is None:
                found = self._hands.read([step])[0]
                now = found.value if isinstance(found, Known) else None
            if now is not None:
                goal = step.wanted(now)
                if tuple(commands) == step.change(now, goal):
                    undo, within_s = step.change(goal, now), self._within_s
                    return self._hands.change_or_undone(step, commands, undo, within_s, now)
        return self._hands.change(step, commands, now)


def guarded(
    plan: Plan, hands: Mapping[str, TimedHands], within_s: int = CONFIRM_WITHIN_S
) -> dict[str, Hands]:
    """Guard every host of a plan."""
    return {
        name: GuardedHands(
            hand,
            [read_step(one.step) for one in plan.steps if one.host == name and one.cuts],
            within_s,
        )
        for name, hand in hands.items()
    }
