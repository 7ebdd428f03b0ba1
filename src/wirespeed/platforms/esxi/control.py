"""Control of an ESXi host, by its shell over SSH: a host's, save for what its busybox has not.

/tmp        is in memory, as /run is elsewhere: the lock is there, and is gone after a reboot
timeout     before ESXi 7 it wants the seconds behind -t; and esxcli takes its time
boot        what the host's agent says that it was booted at, to the minute
reboot      by esxcli, which refuses a host that is not in maintenance mode: no guest is cut off
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar

from wirespeed.apply.claim import Claim
from wirespeed.apply.control import Changed
from wirespeed.apply.control_boot import BOOT_S, POLL_S
from wirespeed.apply.control_posix import READ_TIMEOUT_S, PosixControl
from wirespeed.apply.control_script import LOCK
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.runner import ByNetwork, Runner
from wirespeed.host.sections import sections_script
from wirespeed.model.capture import Capture
from wirespeed.model.command import Command
from wirespeed.model.error import HostError, InputError, LeftChangedError, MeasurementError
from wirespeed.model.observed import Observed
from wirespeed.model.step import State, Step

ESXI_LOCK = "/tmp/wirespeed.lock"  # noqa: S108 - root's alone, mode 700; made or not made
PRELUDE = """\
seconds_behind=-t
command timeout 5 true 2>/dev/null && seconds_behind=
timeout() {
	[ "$1" -ge 30 ] || { shift; set -- 30 "$@"; }
	command timeout $seconds_behind "$@"
}
"""
_BOOT = """
booted() {
	$limit vim-cmd hostsvc/hostsummary |
		sed -n 's/^ *bootTime = "\\([0-9-]*T[0-9]*:[0-9]*\\):.*/\\1/p'
}
show boot-id - booted
"""
_REBOOT = """
run reboot - esxcli system shutdown reboot --delay=10 --reason=wirespeed
"""


class EsxiControl(PosixControl):
    """Control of the ESXi host that `runner` reaches; `collector` is what reads its facts."""

    lock_folder: ClassVar[str] = ESXI_LOCK
    can_be_tried: ClassVar[bool] = False
    keeps_copy: ClassVar[bool] = False

    def __init__(self, name: str, runner: Runner, collector: str) -> None:
        super().__init__(name, runner)
        self._collector = collector

    def capture(
        self,
        collector: str,  # noqa: ARG002
        steps: Sequence[Step],
    ) -> tuple[Capture, list[Observed[State]]]:
        """Run the collector for ESXi and read the states of `steps`, in one round trip."""
        return super().capture(self._collector, steps)

    def change_or_roll_back(
        self,
        step: Step,
        commands: Sequence[Command],
        undo: Sequence[Command],  # noqa: ARG002
        within_s: int,  # noqa: ARG002
        now: State | None = None,
    ) -> Changed:
        """Do as `change`: no step of ESXi takes the way to it down before a reboot."""
        return self.change(step, commands, now)

    def boot_id(self) -> str:
        """Give when the host was booted; empty: it could not be read."""
        script = sections_script("# Reads; changes nothing.\n", "\n", _BOOT)
        return _boot(self._ask(script, READ_TIMEOUT_S))

    def lock(self, claim: Claim) -> str:
        """See `PosixControl.lock`."""
        super().lock(claim)
        return self.boot_id()

    def reboot(self, before: str, within_s: float = BOOT_S) -> str:
        """Start the host again, and give the id of its new boot.

        Raises InputError `reboot.refused` where the host refuses, LeftChangedError
        `reboot.no_return`.
        """
        script = sections_script("# Reboots this host.\n", "\n", _REBOOT)
        with suppress(HostError):  # It may be gone before it has answered.
            section = self._ask(script, READ_TIMEOUT_S).section("reboot")
            if section is not None and section.returncode:
                raise InputError(
                    "reboot.refused",
                    where=self._name,
                    found=(section.errors.strip() or section.output.strip())[:200],
                    so="the host was not rebooted, and no guest lost its network",
                    next="shut its guests down or move them; run `esxcli system maintenanceMode "
                    "set --enable true` there; then run `wirespeed apply --reboot` again",
                )
        return self._await(before, within_s)

    def _await(self, before: str, within_s: float) -> str:
        latest, said = Deadline(within_s), "it has not gone down yet"
        while not latest.expired:
            if isinstance(self._runner, ByNetwork):
                self._runner.renew()
            try:
                now = self.boot_id()
            except (HostError, MeasurementError) as error:
                now, said = "", f"{error.what}: {error.found}"
            if now and now != before:
                return now
            sleep_s(POLL_S)
        raise LeftChangedError(
            "reboot.no_return",
            where=self._name,
            found=f"no new boot within {within_s:g} s: {said}",
            so="the stage before the reboot is done, and the next stage was not started",
            next="check the host's console; when it is up, `wirespeed apply` continues, "
            "`wirespeed undo` undoes the run",
        )

    def _say(self, script: str, timeout_s: float) -> str:
        return super()._say(PRELUDE + script.replace(LOCK, ESXI_LOCK), timeout_s)


def _boot(capture: Capture) -> str:
    section = capture.section("boot-id")
    return section.output.strip() if section and section.returncode == 0 else ""
