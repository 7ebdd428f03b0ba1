"""Where a plan ends for now: what follows a reboot is planned when it was done. Pure.

steps …  step that needs a reboot, or resets a card  … more of these │ everything else: later
"""

from collections.abc import Iterable

from wirespeed.apply.planner import described
from wirespeed.apply.record import names_of
from wirespeed.catalog import read_step
from wirespeed.model.error import LeftChangedError
from wirespeed.model.plan import Later, Plan, PlannedStep


class Stage:
    """The steps of one host until its stage ends. `is_pending`: it is still to be rebooted.

    A step that is so already ends no stage, unless an earlier run of it waits for that reboot.
    """

    def __init__(self, host: str, *, is_pending: bool = False) -> None:
        self._host, self._is_pending = host, is_pending
        self.steps: list[PlannedStep] = []
        self._after: list[PlannedStep] = []

    def takes(self, ends_stage: bool) -> bool:
        """Tell whether a step can still be in it, by whether the step ends a stage itself."""
        return ends_stage or not self._after

    def add(self, planned: PlannedStep) -> None:
        """Add a step that it takes."""
        self.steps.append(planned)
        if read_step(planned.step).ends_stage and (self._is_pending or not planned.no_op):
            self._after.append(planned)

    @property
    def has_ended(self) -> bool:
        """Whether one of its steps ends it."""
        return bool(self._after)

    def later(self) -> Later:
        """Say what the rest waits for."""
        return Later(
            host=self._host,
            after=tuple(p.name for p in self._after),
            needs_reboot=needs_reboot(self._after),
        )


def needs_reboot(steps: Iterable[PlannedStep]) -> bool:
    """Tell whether some step waits for a reboot, and none after it resets its card instead."""
    waiting: list[PlannedStep] = []
    for planned in steps:
        if planned.waits_for_reboot:
            waiting.append(planned)
        elif read_step(planned.step).ends_stage:
            names = set(names_of(planned.step))
            waiting = [one for one in waiting if one.subject not in names]
    return bool(waiting)


def refuse_endless(done: Plan | None, made: Plan) -> None:
    """Raise LeftChangedError `stage.not_kept` where a step would wait for one more reboot."""
    before = {(p.host, str(p.step)) for p in (done.steps if done else ()) if not p.no_op}
    for planned in made.steps:
        is_again = (planned.host, str(planned.step)) in before
        if is_again and not planned.no_op and read_step(planned.step).ends_stage:
            raise LeftChangedError(
                "stage.not_kept",
                where=f"{planned.subject} on {planned.host}",
                found="an earlier stage did this step, but the host has lost it: "
                f"{described(planned.before or {})}",
                so="this setting was lost with the reboot; another reboot would lose it again",
                next="find out what changed it back; `wirespeed undo` undoes the run",
            )
