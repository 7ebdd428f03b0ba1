"""Control that does a step which may cut off the connection under its timer, others without."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from wirespeed.apply.control import Changed, HostControl
from wirespeed.catalog import read_step
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed
from wirespeed.model.plan import Plan
from wirespeed.model.step import State, Step

CONFIRM_WITHIN_S = 60
"""How long a host waits for wirespeed to reconnect before it undoes the step."""


@runtime_checkable
class TimedControl(HostControl, Protocol):
    """One host that can undo a change itself."""

    def change_or_roll_back(
        self,
        step: Step,
        commands: Sequence[Command],
        undo: Sequence[Command],
        within_s: int,
        now: State | None = None,
    ) -> Changed:
        """Do as `change`; the host runs `undo` unless a new connection comes within `within_s`."""
        ...


class GuardedControl:
    """Control of one host, for a plan some of whose steps `cuts` marks."""

    def __init__(self, control: TimedControl, steps: Sequence[Step], within_s: int) -> None:
        self._control, self._steps, self._within_s = control, steps, within_s

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        """See `HostControl.read`."""
        return self._control.read(steps)

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        """See `HostControl.change`. What leads back to where we were needs none."""
        if step in self._steps:
            if now is None:
                found = self._control.read([step])[0]
                now = found.value if isinstance(found, Known) else None
            if now is not None:
                goal = step.wanted(now)
                if tuple(commands) == step.change(now, goal):
                    undo, within_s = step.change(goal, now), self._within_s
                    return self._control.change_or_roll_back(step, commands, undo, within_s, now)
        return self._control.change(step, commands, now)


def with_rollback(
    plan: Plan, controls: Mapping[str, HostControl], within_s: int = CONFIRM_WITHIN_S
) -> dict[str, HostControl]:
    """Guard every host of a plan that has steps which may cut off."""
    found = dict(controls)
    for name, control in controls.items():
        steps = [read_step(one.step) for one in plan.steps if one.host == name and one.cuts]
        if steps and not isinstance(control, TimedControl):
            raise AssertionError(f"{name}: what may cut off is admitted only of hosts with a timer")
        if steps and isinstance(control, TimedControl):
            found[name] = GuardedControl(control, steps, within_s)
    return found
