"""Hands by a runner: each reading and each change is one script, one round trip."""

import uuid
from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar

from wirespeed.apply.guard_timer import UNDOING_S, settle_script, sweep_script
from wirespeed.apply.guard_timer_change import change_or_undone
from wirespeed.apply.hands import Changed
from wirespeed.apply.hands_boot import (
    BOOT_S,
    await_boot,
    boot_id,
    boot_id_script,
    reboot_script,
)
from wirespeed.apply.hands_script import (
    CHANGE_TIMEOUT_S,
    LOCK,
    both_captures,
    both_scripts,
    change_script,
    changed,
    lock_script,
    read_script,
    settled_read_script,
    states,
    unlock_script,
)
from wirespeed.apply.settle import settled
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.runner import ByNetwork, Runner
from wirespeed.model.capture import MAGIC, MAX_PREAMBLE_CHARACTERS, Capture, parse_capture
from wirespeed.model.command import Command
from wirespeed.model.error import HostError, InputError, MeasurementError
from wirespeed.model.observed import Observed
from wirespeed.model.shown import shown
from wirespeed.model.step import State, Step

READ_TIMEOUT_S = 60.0
RECONNECT_S = 60.0
"""How long a host may be away in the midst of a change: a port that starts anew, a switch."""
PAUSE_S = 1.0


class ShellHands:
    """The hands of the host that `runner` reaches; `name` is how the user calls it."""

    interruption: ClassVar[str] = ""
    """What `reboot` ends, where that is not what everybody takes a reboot for."""

    def __init__(self, name: str, runner: Runner) -> None:
        self._name, self._runner = name, runner

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        """See `Hands.read`."""
        return states(self._ask(read_script(steps), READ_TIMEOUT_S), steps)

    def change(self, step: Step, commands: Sequence[Command]) -> Changed:
        """See `Hands.change`."""
        timeout_s = READ_TIMEOUT_S + CHANGE_TIMEOUT_S * len(commands)
        try:
            capture = self._ask(change_script(step, commands), timeout_s)
        except HostError as error:
            return Changed("", self._read_again(step, error))
        return settled(self.read, step, changed(capture, step, commands))

    def change_or_undone(
        self, step: Step, commands: Sequence[Command], undo: Sequence[Command], within_s: int
    ) -> Changed:
        """Do as `change`; the host runs `undo` unless a new connection comes within `within_s`.

        From here to here there is no way to lose.
        """
        if not isinstance(self._runner, ByNetwork):
            return self.change(step, commands)
        renew, token = self._runner.renew, uuid.uuid4().hex[:12]
        done = change_or_undone(self._ask, renew, token, step, commands, undo, within_s)
        return settled(self.read, step, done)

    def look(self, collector: str, steps: Sequence[Step]) -> tuple[Capture, list[Observed[State]]]:
        """Run the collector and read the states of `steps`, in one round trip."""
        script = both_scripts(collector, read_script(steps))
        first, second = both_captures(self._say(script, 2 * READ_TIMEOUT_S))
        capture = parse_capture(first, self._name)
        return capture, states(parse_capture(second, self._name), steps) if steps else []

    def boot_id(self) -> str:
        """Give the id of the boot that the host is in; empty: it could not be read."""
        return boot_id(self._ask(boot_id_script(), READ_TIMEOUT_S))

    def reboot(self, before: str, within_s: float = BOOT_S) -> str:
        """Start the host again, and give the id of its new boot.

        Raises InputError `reboot.here`, LeftChangedError `reboot.no_return`.
        """
        if not isinstance(self._runner, ByNetwork):
            raise InputError(
                "reboot.here",
                where=self._name,
                found="it is the machine that this runs on",
                so="nobody would be left to go on",
                next="reboot it yourself; then `wirespeed apply` goes on",
            )
        with suppress(HostError):  # It may be gone before it has answered.
            self._ask(reboot_script(), READ_TIMEOUT_S)
        return await_boot(self._ask, self._runner.renew, self._name, before, within_s)

    def take(self, run: str) -> str:
        """Take the host for a run, again if it is its own; give its boot id.

        Raises InputError `host.in_use`. A change that is still under way there is waited for.
        What a run that was killed left armed there is undone first.
        """
        script = lock_script(run, settle_script())
        capture = self._ask(script, READ_TIMEOUT_S + CHANGE_TIMEOUT_S + UNDOING_S)
        section = capture.section("owner")
        owner = section.output.strip() if section and section.returncode == 0 else ""
        if owner != run:
            raise InputError(
                "host.in_use",
                where=self._name,
                found=f"{LOCK} is of {shown(owner) or 'nobody that it names'}",
                so="two at once would undo each other's work",
                next=f"wait for it, or finish it there; if it is gone: rm -r {LOCK}",
            )
        return boot_id(capture)

    def give_back(self, run: str) -> None:
        """Let others take it."""
        self._ask(unlock_script(run, sweep_script()), READ_TIMEOUT_S)

    def _read_again(self, step: Step, lost: HostError) -> Observed[State]:
        """Read what became of a change whose connection was lost: the host's word is what counts.

        Raises `lost` when the host is not back in time.
        """
        latest = Deadline(RECONNECT_S)
        script, timeout_s = settled_read_script(step), READ_TIMEOUT_S + CHANGE_TIMEOUT_S
        while True:
            try:
                return states(self._ask(script, timeout_s), [step])[0]
            except (HostError, MeasurementError):
                if latest.expired:
                    raise lost from None
                sleep_s(PAUSE_S)

    def _ask(self, script: str, timeout_s: float) -> Capture:
        return parse_capture(self._say(script, timeout_s), self._name)

    def _say(self, script: str, timeout_s: float) -> str:
        done = self._runner.run(("sh", "-s"), timeout_s=timeout_s, stdin=script)
        if MAGIC not in done.output[:MAX_PREAMBLE_CHARACTERS]:
            said = shown((done.errors.strip() or done.output.strip()).partition("\n")[0], 200)
            raise HostError(
                "host.no_answer",
                where=self._name,
                found=f"it did not run our script: {said or f'return code {done.returncode}'}",
                next="is its login shell one that runs `sh -s`?",
            )
        return done.output
