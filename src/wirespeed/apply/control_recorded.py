"""Control of a recorded host: they read from its capture, and change nothing. Pure."""

from collections.abc import Sequence

from wirespeed.apply.control import Changed
from wirespeed.apply.control_script import reading_name
from wirespeed.apply.recorded_answers import RecordedAnswers
from wirespeed.apply.recorded_netdevs import RecordedNetdevs
from wirespeed.catalog import platforms
from wirespeed.model.capture import Capture, Section
from wirespeed.model.command import Command, Shell
from wirespeed.model.observed import Observed, Unreadable
from wirespeed.model.step import State, Step

NOT_HELD = {
    True: "the capture does not hold it; `wirespeed plan SPEC --unread HOST` prints a script that "
    "reads it there",
    False: "the capture does not hold it, and no script of a shell reads it: give the address of "
    "the host itself",
}
"""Why a state is unreadable, by whether a POSIX shell can read it."""


class RecordedControl:
    """What a capture tells of the states of steps; what it does not hold is unreadable."""

    def __init__(self, capture: Capture, answers: RecordedAnswers) -> None:
        self._capture, self._answers = capture, answers
        self._netdevs = RecordedNetdevs(capture)

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        """See `HostControl.read`. An unreadable state names the command that would tell it."""
        return [self._state(step) for step in steps]

    def change(
        self,
        step: Step,
        commands: Sequence[Command],
        now: State | None = None,  # noqa: ARG002
    ) -> Changed:
        """Refuse: a recorded host cannot be changed, and no caller may try."""
        raise AssertionError(f"{step.subject}: a capture cannot be changed by {len(commands)}")

    def said(self, command: Command) -> Section | None:
        """Give what a command printed, or would have; None: the capture does not hold it."""
        return (
            self._capture.section(reading_name(command))
            or self._netdevs.answer(command)
            or next(
                filter(None, (one.recorded(self._capture, command) for one in platforms())), None
            )
            or self._answers.answer(self._capture, command.argv)
        )

    def _state(self, step: Step) -> Observed[State]:
        command = step.read()
        section = self.said(command)
        if section is None:
            return Unreadable(NOT_HELD[command.shell is Shell.POSIX], command.line())
        return step.parse(section)
