"""Control of a switch: lines are typed and their answers read, by the protocol of every host.

A change is typed up to the first line that is refused; then the configuration is left, so that
nobody stands in the midst of it, and read afresh. Where the session breaks, it is read by a new
one: what was typed last may have been taken or not, and only a reading says so.
"""

from collections.abc import Sequence
from typing import Protocol

from wirespeed.apply.change_from import is_other
from wirespeed.apply.control import Changed
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.switch import is_refused
from wirespeed.model.capture import Section
from wirespeed.model.command import Command, Shell
from wirespeed.model.error import HostError
from wirespeed.model.observed import Observed
from wirespeed.model.shown import shown
from wirespeed.model.step import State, Step
from wirespeed.model.switch_kind import SwitchKind

RECONNECT_S = 60.0
"""A port that starts anew may be the one that the switch is reached by."""
PAUSE_S = 2.0
LEAVE = {SwitchKind.SONIC: (), SwitchKind.CUMULUS: ("nv config detach",)}
"""What ends a configuration that was refused; the others say `end`."""


class Session(Protocol):
    """What `host.switch.SwitchSession` is."""

    @property
    def kind(self) -> SwitchKind:
        """What runs on the switch."""
        ...

    def type(self, lines: Sequence[str]) -> list[str]:
        """Type lines up to the first that is refused; give what each printed."""
        ...

    def renew(self) -> None:
        """Let the next line go by a connection that is made then."""
        ...

    def save(self) -> str:
        """Save the whole running configuration; give what was printed."""
        ...


class SwitchControl:
    """Control of the switch at the other end of `session`."""

    def __init__(
        self, session: Session, *, reconnect_s: float = RECONNECT_S, pause_s: float = PAUSE_S
    ) -> None:
        self._session, self._reconnect_s, self._pause_s = session, reconnect_s, pause_s

    @property
    def session(self) -> Session:
        """The session that it types in."""
        return self._session

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        """See `HostControl.read`: what several steps ask alike is asked once."""
        said: dict[Command, Section] = {}
        for step in steps:
            command = step.read()
            if command not in said:
                said[command] = self._asked(command)
        return [step.parse(said[step.read()]) for step in steps]

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        """See `HostControl.change`: a switch has no script, so it is read by the line before."""
        if now is not None:
            found = self._found(step)
            if is_other(found, now, step):
                return Changed("", found, is_stale=True)
        failed = ""
        try:
            for command in commands:
                if failed := self._typed(command):
                    break
        except HostError as error:
            self._session.renew()
            return Changed("", self._read_again(step, error))
        return Changed(failed, self.read([step])[0])

    def _typed(self, command: Command) -> str:
        """Type a command; give what was refused, and leave the configuration then."""
        if command.shell is not Shell.SWITCH:
            raise AssertionError(f"{command.line()} is not for a switch")
        answers = self._session.type(command.argv)
        if not is_refused(answers[-1]):
            return ""
        self._session.type(LEAVE.get(self._session.kind, ("end",)))
        line = command.argv[len(answers) - 1]
        lines = (word.strip(" ^") for word in answers[-1].splitlines())
        return f"{line}: {shown(' '.join(filter(None, lines)), 200)}"

    def _asked(self, command: Command) -> Section:
        (answer,) = self._session.type(command.argv)
        if is_refused(answer[:2000]):
            return Section("switch", "", "", answer, 1)
        return Section("switch", "", answer, "", 0)

    def _found(self, step: Step) -> Observed[State]:
        try:
            return self.read([step])[0]
        except HostError as error:
            self._session.renew()
            return self._read_again(step, error)

    def _read_again(self, step: Step, error: HostError) -> Observed[State]:
        """Read by a new session, for as long as a switch may be away. Raises the first error."""
        deadline = Deadline(self._reconnect_s)
        while True:
            try:
                return self.read([step])[0]
            except HostError:
                self._session.renew()
                if deadline.expired:
                    raise error from None
            sleep_s(self._pause_s)
