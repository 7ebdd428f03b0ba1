"""Control of the Windows side of a host: PowerShell in, a capture out, one round trip each."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from wirespeed.apply.claim import Claim
from wirespeed.apply.control import Changed
from wirespeed.apply.control_posix import PAUSE_S, READ_TIMEOUT_S, PosixControl, line_of
from wirespeed.apply.control_script import CHANGE_TIMEOUT_S, changed, states
from wirespeed.apply.guard_timer import UNDOING_S, other_runs
from wirespeed.apply.guard_timer_change import change_or_roll_back
from wirespeed.apply.read_states import settled
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.powershell import run_powershell
from wirespeed.host.reach_windows import no_powershell
from wirespeed.host.runner import ByNetwork, Runner
from wirespeed.model.capture import MAGIC, MAX_PREAMBLE_CHARACTERS, Capture, Section
from wirespeed.model.command import Command
from wirespeed.model.error import HostError, InputError, MeasurementError
from wirespeed.model.observed import Observed
from wirespeed.model.shown import shown
from wirespeed.model.step import State, Step
from wirespeed.platforms.windows.control_script import (
    LOCK,
    boot_id_script,
    change_script,
    lock_script,
    read_script,
    settled_read_script,
    take_over_script,
    unlock_script,
)
from wirespeed.platforms.windows.rollback_timer import (
    LEAST_S,
    WINDOWS_TIMER,
    others_part,
    settle_part,
    sweep_part,
)

START_S = 30.0
"""For powershell.exe and the modules of its cmdlets to load, on a machine that is busy."""
BACK_S = 600.0
"""How long Windows may be away in the midst of a change: a crash writes its dump, then it boots."""


REMOVE = f"by hand: remove {LOCK} in ProgramData; if it could not be written, run as administrator"


class WindowsControl(PosixControl):
    """Control of the Windows that `runner` leads to."""

    can_be_tried: ClassVar[bool] = False
    keeps_copy: ClassVar[bool] = False

    def __init__(self, name: str, runner: Runner, back_s: float = BACK_S) -> None:
        super().__init__(name, runner)
        self._back_s = back_s
        self._boot = ""
        """Of the boot in which the host was taken; empty: it was not, or nobody knows."""

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        """See `HostControl.read`."""
        return states(self._ask_of(steps, read_script(steps), START_S + READ_TIMEOUT_S), steps)

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        """See `HostControl.change`. A command that hangs is ended when it is known to."""
        timeout_s = START_S + READ_TIMEOUT_S + CHANGE_TIMEOUT_S * len(commands)

        def attempt(expected: Section | None) -> Changed:
            script = change_script(step, commands, expected=_good(expected))
            try:
                capture = self._ask_of([step], script, timeout_s)
            except (HostError, MeasurementError) as error:
                return self._looked_back(step, commands, error)
            return settled(self.read, step, changed(capture, step, commands))

        return self._change_from(now, step, attempt)

    def change_or_roll_back(
        self,
        step: Step,
        commands: Sequence[Command],
        undo: Sequence[Command],
        within_s: int,
        now: State | None = None,
    ) -> Changed:
        """Do as `change`; Windows runs `undo` unless a new connection comes in time.

        In time is within `within_s` seconds, and never less than PowerShell needs to start twice.
        """
        if not isinstance(self._runner, ByNetwork):
            return self.change(step, commands, now)
        ask, renew = partial(self._ask_of, [step]), self._runner.renew
        within_s = max(within_s, LEAST_S)

        def attempt(expected: Section | None) -> Changed:
            token, good = self._token(), _good(expected)
            done = change_or_roll_back(
                ask, renew, token, step, commands, undo, within_s, WINDOWS_TIMER, good
            )
            return settled(self.read, step, done)

        return self._change_from(now, step, attempt)

    def capture(
        self, collector: str, steps: Sequence[Step]
    ) -> tuple[Capture, list[Observed[State]]]:
        """Run the collector for Windows, then read the states of `steps`."""
        capture = self._ask(collector, START_S + 2 * READ_TIMEOUT_S)
        return capture, self.read(steps) if steps else []

    def boot_id(self) -> str:
        """Give the id of the boot that Windows is in; empty: it could not be read."""
        return line_of(self._ask(boot_id_script(), START_S + READ_TIMEOUT_S), "boot-id")

    def reboot(self, before: str, within_s: float = 0) -> str:  # noqa: ARG002
        """Refuse: no step of ours waits for a boot of Windows."""
        raise InputError(
            "reboot.windows",
            where=self._name,
            found="wirespeed does not reboot Windows",
            next="reboot it yourself; then run `wirespeed apply` again to continue",
        )

    def lock(self, claim: Claim) -> str:
        """See `PosixControl.lock`."""
        parts = settle_part(claim.run), others_part(claim.run)
        capture = self._taken(lock_script(claim.line(), *parts))
        self._refuse_stranger(capture)
        found = line_of(capture, "owner")
        if found != claim.line() and claim.takes_over(found):
            script = take_over_script(claim.line(), claim.former_of(self._name, found), *parts)
            capture = self._taken(script)
            self._refuse_stranger(capture)
            found = line_of(capture, "owner")
        self._claimed(claim, found, other_runs(capture), REMOVE)
        self._boot = line_of(capture, "boot-id")
        return self._boot

    def _refuse_stranger(self, capture: Capture) -> None:
        """Raise InputError `host.lock_untrusted` for a lock that an ordinary user made."""
        if stranger := line_of(capture, "stranger"):
            raise InputError(
                "host.lock_untrusted",
                where=self._name,
                found=shown(f"{stranger}: neither yours nor an administrator's", 300),
                so="its owner could manipulate the changes; nothing in it was read or written",
                next="find out who created it, and remove it as an administrator",
            )

    def unlock(self, claim: Claim) -> None:
        """Let other runs lock it."""
        script = unlock_script(claim.line(), sweep_part(claim.run))
        self._ask(script, START_S + READ_TIMEOUT_S)

    def _taken(self, script: str) -> Capture:
        return self._ask(script, START_S + READ_TIMEOUT_S + CHANGE_TIMEOUT_S + UNDOING_S)

    def _looked_back(
        self, step: Step, commands: Sequence[Command], lost: HostError | MeasurementError
    ) -> Changed:
        """Tell what became of a change that gave no answer: the host's word is what counts.

        Raises `lost` when the host is not back in time.
        """
        capture = self._await_back(step, lost)
        line, boot = "; ".join(c.line() for c in commands), line_of(capture, "boot-id")
        failed = ""
        if isinstance(lost, MeasurementError):
            failed = f"{line}: {lost.found}, and ended"
        elif self._boot and boot != self._boot:
            failed = f"{line}: Windows restarted while it ran; did it crash?"
            self._boot = boot
        return settled(self.read, step, Changed(failed, states(capture, [step])[0]))

    def _await_back(self, step: Step, lost: HostError | MeasurementError) -> Capture:
        latest = Deadline(self._back_s)
        script, timeout_s = settled_read_script(step), START_S + READ_TIMEOUT_S + CHANGE_TIMEOUT_S
        while True:
            if isinstance(self._runner, ByNetwork):
                self._runner.renew()
            try:
                return self._ask_of([step], script, timeout_s)
            except (HostError, MeasurementError):
                if latest.expired:
                    raise lost from None
                sleep_s(PAUSE_S)

    def _say(self, script: str, timeout_s: float) -> str:
        done = run_powershell(self._runner, script, timeout_s=timeout_s)
        if MAGIC not in done.output[:MAX_PREAMBLE_CHARACTERS]:
            raise no_powershell(self._name, done.output, done.errors, done.returncode)
        return done.output


def _good(section: Section | None) -> Section | None:
    """Give a reading that can be compared: of one that failed, the words may differ each time."""
    return section if section is not None and section.returncode == 0 else None
