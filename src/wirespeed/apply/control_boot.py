"""A host's boot: which one it is, another one, and the proof of it.

reboot -> no answer, or the old boot id -> an answer with another boot id
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.sections import sections_script
from wirespeed.model.capture import Capture
from wirespeed.model.error import HostError, LeftChangedError, MeasurementError

BOOT_ID = "/proc/sys/kernel/random/boot_id"
BOOT_S = 900.0
"""A server that tests its memory and trains its links takes many minutes."""
ASK_S = 20.0
POLL_S = 1.0

READ_BOOT_ID = f"run boot-id - cat {BOOT_ID}\n"
_REBOOT = """
restart() {
	sync
	if [ -d /run/systemd/system ]; then
		setsid sh -c 'sleep 1; exec systemctl reboot' </dev/null >/dev/null 2>&1 &
	else
		setsid sh -c 'sleep 1; exec reboot -ff' </dev/null >/dev/null 2>&1 &
	fi
}
show reboot - restart
"""


@runtime_checkable
class Rebootable(Protocol):
    """Control of a host that can tell its boot."""

    def boot_id(self) -> str:
        """Give the id of the boot that the host is in; empty: it could not be read."""
        ...


def boot_id_script() -> str:
    """Read the boot id."""
    return sections_script("# Reads; changes nothing.\n", "\n", READ_BOOT_ID)


def boot_id(capture: Capture) -> str:
    """Give the boot id that a script read; empty: it could not."""
    section = capture.section("boot-id")
    return section.output.strip() if section and section.returncode == 0 else ""


def reboot_script() -> str:
    """Start the host again a second after the answer, by systemd where that runs."""
    return sections_script("# Reboots this host.\n", _REBOOT)


def await_boot(
    ask: Callable[[str, float], Capture],
    renew: Callable[[], None],
    where: str,
    before: str,
    within_s: float = BOOT_S,
) -> str:
    """Wait for a boot other than `before`; give its id.

    Raises LeftChangedError `reboot.no_return`.
    """
    latest = Deadline(within_s)
    said = "it has not gone down yet"
    while not latest.expired:
        renew()
        try:
            now = boot_id(ask(boot_id_script(), ASK_S))
        except (HostError, MeasurementError) as error:
            now, said = "", f"{error.what}: {error.found}"
        if now and now != before:
            return now
        sleep_s(POLL_S)
    raise LeftChangedError(
        "reboot.no_return",
        where=where,
        found=f"no new boot within {within_s:g} s: {said}",
        so="the stage before the reboot is done, and the next stage was not started",
        next="check the host's console; when it is up, `wirespeed apply` continues, `wirespeed "
        "undo` undoes the run",
    )
