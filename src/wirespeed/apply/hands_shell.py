"""Hands by a runner: each reading and each change is one script, one round trip."""

import uuid
from collections.abc import Sequence

from wirespeed.apply.guard_timer import UNDOING_S, settle_script, sweep_script
from wirespeed.apply.guard_timer_change import change_or_undone
from wirespeed.apply.hands import Changed
from wirespeed.apply.hands_script import (
    CHANGE_TIMEOUT_S,
    LOCK,
    change_script,
    changed,
    lock_script,
    read_script,
    states,
    unlock_script,
)
from wirespeed.host.runner import ByNetwork, Runner
from wirespeed.model.capture import Capture, parse_capture
from wirespeed.model.command import Command
from wirespeed.model.error import InputError
from wirespeed.model.observed import Observed
from wirespeed.model.shown import shown
from wirespeed.model.step import State, Step

READ_TIMEOUT_S = 60.0


class ShellHands:
    """The hands of the host that `runner` reaches; `name` is how the user calls it."""

    def __init__(self, name: str, runner: Runner) -> None:
        self._name, self._runner = name, runner

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        """See `Hands.read`."""
        return states(self._ask(read_script(steps), READ_TIMEOUT_S), steps)

    def change(self, step: Step, commands: Sequence[Command]) -> Changed:
        """See `Hands.change`."""
        timeout_s = READ_TIMEOUT_S + CHANGE_TIMEOUT_S * len(commands)
        return changed(self._ask(change_script(step, commands), timeout_s), step, commands)

    def change_or_undone(
        self, step: Step, commands: Sequence[Command], undo: Sequence[Command], within_s: int
    ) -> Changed:
        """Do as `change`; the host runs `undo` unless a new connection comes within `within_s`.

        From here to here there is no way to lose.
        """
        if not isinstance(self._runner, ByNetwork):
            return self.change(step, commands)
        renew, token = self._runner.renew, uuid.uuid4().hex[:12]
        return change_or_undone(self._ask, renew, token, step, commands, undo, within_s)

    def take(self, run: str) -> None:
        """Take the host for a run, again if it is its own. Raises InputError `host.in_use`.

        What a run that was killed left armed there is undone first.
        """
        script = lock_script(run, settle_script())
        section = self._ask(script, READ_TIMEOUT_S + UNDOING_S).section("owner")
        owner = section.output.strip() if section and section.returncode == 0 else ""
        if owner != run:
            raise InputError(
                "host.in_use",
                where=self._name,
                found=f"{LOCK} is of {shown(owner) or 'nobody that it names'}",
                so="two at once would undo each other's work",
                next=f"wait for it, or finish it there; if it is gone: rm -r {LOCK}",
            )

    def give_back(self, run: str) -> None:
        """Let others take it."""
        self._ask(unlock_script(run, sweep_script()), READ_TIMEOUT_S)

    def _ask(self, script: str, timeout_s: float) -> Capture:
        done = self._runner.run(("sh", "-s"), timeout_s=timeout_s, stdin=script)
        return parse_capture(done.output, self._name)
