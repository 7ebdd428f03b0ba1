"""Control of a virtual machine: a host's, save that it comes and goes with its own host's steps."""

from collections.abc import Sequence
from typing import ClassVar

from wirespeed.apply.claim import Claim
from wirespeed.apply.control import Changed
from wirespeed.apply.control_posix import PosixControl
from wirespeed.model.command import Command
from wirespeed.model.error import HostError
from wirespeed.model.observed import Observed, Unreadable
from wirespeed.model.step import State, Step


class GuestControl(PosixControl):
    """A guest that is not there yet, or no longer, has nothing that could be read.

    Then a plan is made of what its steps say a new guest is like, and an undo goes on to its host.
    """

    can_be_tried: ClassVar[bool] = False
    """It goes with its host's steps, which are."""
    keeps_copy: ClassVar[bool] = False

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        """See `HostControl.read`."""
        try:
            return super().read(steps)
        except HostError as error:
            return [Unreadable(_said(error), step.read().line()) for step in steps]

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        """See `HostControl.change`."""
        try:
            return super().change(step, commands, now)
        except HostError as error:
            return Changed(_said(error), Unreadable(_said(error), step.read().line()))

    def lock(self, claim: Claim) -> str:  # noqa: ARG002
        """Do nothing: a guest is reached only through its host, which is locked already."""
        return ""

    def unlock(self, claim: Claim) -> None:
        """See `take`."""

    def boot_id(self) -> str:
        """See `take`."""
        return ""


def _said(error: HostError) -> str:
    return f"{error.what} {error.where}: {error.found}"
