"""Control of the guests of an ESXi host, by its vSphere API.

A guest is told all of a step in one ReconfigVM_Task, which is done or is not. Where the connection
is lost in its midst, the guest is read by a new one: only that says what became of it. There is no
lock on the host: it refuses what is based on a reading that is no longer true.
"""

import json
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from wirespeed.apply.change_from import is_other
from wirespeed.apply.claim import Claim
from wirespeed.apply.control import Changed
from wirespeed.apply.control_posix import PosixControl
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.reach_vsphere import vsphere_capture
from wirespeed.host.runner import Completed
from wirespeed.model.capture import Capture, Section, parse_capture
from wirespeed.model.command import Command, Shell
from wirespeed.model.error import HostError, InputError
from wirespeed.model.observed import Observed
from wirespeed.model.step import State, Step
from wirespeed.model.vsphere import READ, RECONFIGURE, assignments

RECONNECT_S = 120.0
"""How long a host's API may be away: its agent takes a minute to start again."""
PAUSE_S = 2.0


class Session(Protocol):
    """What `host.vsphere.VsphereSession` is."""

    def host(self) -> dict[str, Any]:
        """Give what the host says of itself."""
        ...

    def guest(self, number: str) -> dict[str, Any] | None:
        """Give the settings of a guest; None: there is none of that number."""
        ...

    def reconfigure(self, number: str, values: dict[str, str]) -> str:
        """Set values, and wait; give what the host says against it."""
        ...

    def renew(self) -> None:
        """Let what comes next go by a session that is made then."""
        ...


class _NoShell:
    """What runs commands for control of a shell: by the API there are none."""

    def __init__(self, name: str) -> None:
        self._name = name

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 0,  # noqa: ARG002
        stdin: str | None = None,  # noqa: ARG002
        max_bytes: int = 0,  # noqa: ARG002
    ) -> Completed:
        """Refuse."""
        raise InputError(
            "vsphere.no_shell",
            where=self._name,
            found=f"{argv[0]} is a command, and the vSphere API cannot run commands",
            so="nothing was run",
            next="reach the host by SSH: esxi://USER@HOST",
        )


class VsphereControl(PosixControl):
    """Control of the guests of the host at the other end of `session`."""

    can_be_tried: ClassVar[bool] = False
    keeps_copy: ClassVar[bool] = False

    def __init__(
        self,
        name: str,
        session: Session,
        *,
        reconnect_s: float = RECONNECT_S,
        pause_s: float = PAUSE_S,
    ) -> None:
        super().__init__(name, _NoShell(name))
        self._session = session
        self._reconnect_s, self._pause_s = reconnect_s, pause_s

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        """See `HostControl.read`: a guest that several steps are about is asked once."""
        said: dict[str, Section] = {}
        for step in steps:
            number = _number(step.read(), READ)
            if number not in said:
                said[number] = self._asked(number)
        return [step.parse(said[_number(step.read(), READ)]) for step in steps]

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        """See `HostControl.change`: refused where another change came between."""
        if now is not None:
            found = self._found(step)
            if is_other(found, now, step):
                return Changed("", found, is_stale=True)
        failed = ""
        try:
            for command in commands:
                number = _number(command, RECONFIGURE)
                said = self._session.reconfigure(number, assignments(command.argv[2:]))
                if said:
                    failed = f"{command.line()}: {said}"
                    break
        except HostError as error:
            self._session.renew()
            return Changed("", self._read_again(step, error))
        return Changed(failed, self.read([step])[0])

    def change_or_roll_back(
        self,
        step: Step,
        commands: Sequence[Command],
        undo: Sequence[Command],  # noqa: ARG002
        within_s: int,  # noqa: ARG002
        now: State | None = None,
    ) -> Changed:
        """Do as `change`: a guest's settings carry no session of ours."""
        return self.change(step, commands, now)

    def capture(
        self,
        collector: str,  # noqa: ARG002
        steps: Sequence[Step],
    ) -> tuple[Capture, list[Observed[State]]]:
        """Ask the API what the collector would ask a shell; then read the states of `steps`."""
        capture = parse_capture(vsphere_capture(self._session.host()), self._name)
        return capture, self.read(steps) if steps else []

    def boot_id(self) -> str:
        """No step by the API waits for a boot."""
        return ""

    def reboot(self, before: str, within_s: float = 0) -> str:  # noqa: ARG002
        """Refuse: no step by the API waits for a boot."""
        raise InputError(
            "reboot.vsphere",
            where=self._name,
            found="wirespeed does not reboot a host through the vSphere API",
            next="reboot it yourself; then run `wirespeed apply` again to continue",
        )

    def lock(self, claim: Claim) -> str:  # noqa: ARG002
        """Take nothing: the host itself refuses a change that is based on an old reading."""
        return ""

    def unlock(self, claim: Claim) -> None:
        """See `take`."""

    def _asked(self, number: str) -> Section:
        said = self._session.guest(number)
        if said is None:
            return Section("guest", number, "", "there is no guest of that number", 1)
        return Section("guest", number, json.dumps(said), "", 0)

    def _found(self, step: Step) -> Observed[State]:
        try:
            return self.read([step])[0]
        except HostError as error:
            self._session.renew()
            return self._read_again(step, error)

    def _read_again(self, step: Step, lost: HostError) -> Observed[State]:
        """Read by a new session, for as long as a host's agent may be away. Raises `lost`."""
        latest = Deadline(self._reconnect_s)
        while True:
            try:
                return self.read([step])[0]
            except HostError:
                self._session.renew()
                if latest.expired:
                    raise lost from None
            sleep_s(self._pause_s)


def _number(command: Command, method: str) -> str:
    if command.shell is not Shell.VSPHERE or command.argv[0] != method:
        raise AssertionError(f"{command.line()} is not for a guest's {method}")
    return command.argv[1]
