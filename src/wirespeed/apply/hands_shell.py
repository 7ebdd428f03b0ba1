"""Hands by a runner: each reading and each change is one script, one round trip."""

from collections.abc import Sequence

from wirespeed.apply.hands import Changed
from wirespeed.apply.hands_script import (
    CHANGE_TIMEOUT_S,
    change_script,
    changed,
    read_script,
    states,
)
from wirespeed.host.runner import Runner
from wirespeed.model.capture import Capture, parse_capture
from wirespeed.model.command import Command
from wirespeed.model.observed import Observed
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

    def _ask(self, script: str, timeout_s: float) -> Capture:
        done = self._runner.run(("sh", "-s"), timeout_s=timeout_s, stdin=script)
        return parse_capture(done.output, self._name)
