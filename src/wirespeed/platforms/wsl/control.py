"""Control of the Linux side of WSL 2. Its boot is the one of WSL's own virtual machine."""

from contextlib import suppress
from typing import ClassVar

from wirespeed.apply.control_boot import await_boot
from wirespeed.apply.control_posix import READ_TIMEOUT_S, PosixControl
from wirespeed.host.runner import Runner
from wirespeed.host.wsl import WslRunner
from wirespeed.model.error import HostError, InputError

START_S = 300.0
"""For WSL to start again: seconds, and a minute where its disk is checked."""


class WslControl(PosixControl):
    """A host's, save that `reboot` shuts WSL down, by Windows, and lets Windows start it again."""

    interruption: ClassVar[str] = (
        "WSL must be shut down, with `wsl --shutdown` in Windows: this ends every distribution "
        "and all programs in it; Windows keeps running"
    )

    keeps_copy: ClassVar[bool] = False
    """A run has Windows' side too, which keeps none: half of a way back is none."""

    def __init__(self, name: str, runner: Runner) -> None:
        super().__init__(name, runner)
        self._by_windows = runner if isinstance(runner, WslRunner) else None

    def reboot(self, before: str, within_s: float = START_S) -> str:
        """Shut WSL down, start it, and give the id of its new boot.

        Raises InputError `wsl.shut_down_yourself` within it, LeftChangedError `reboot.no_return`.
        """
        if self._by_windows is None:
            raise InputError(
                "wsl.shut_down_yourself",
                where=self._name,
                found="wirespeed runs inside WSL on this host",
                so="shutting WSL down would end wirespeed too",
                next="run `wsl --shutdown` in Windows, start WSL again, and run `wirespeed "
                "apply` again to continue; or reach the host by winssh:// or winrm://",
            )
        with suppress(HostError):
            self._by_windows.shut_down(READ_TIMEOUT_S)
        renew = self._by_windows.renew
        return await_boot(self._ask, renew, self._name, before, within_s)

    def _say(self, script: str, timeout_s: float) -> str:
        """See `PosixControl._say`; wsl.exe says in UTF-16 why it starts no Linux."""
        try:
            return super()._say(script, timeout_s)
        except HostError as error:
            if self._by_windows is None or error.what != "host.no_answer":
                raise
            raise HostError(
                "wsl.no_linux",
                where=self._name,
                found=error.found,
                so="the Linux side can be neither read nor changed",
                next="in Windows, as the user of the address, run `wsl --list --verbose`: a "
                "distribution of version 2 must be there, and be the default (`wsl "
                "--set-default NAME`)",
            ) from None
