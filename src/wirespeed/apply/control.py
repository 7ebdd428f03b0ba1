"""What applying asks of a host: to read, and to change and read again. The rim of the executor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from wirespeed.apply.claim import Claim
from wirespeed.apply.host_copy import HostCopy
from wirespeed.model.command import Command
from wirespeed.model.observed import Observed
from wirespeed.model.step import State, Step


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of a change."""

    failed: str
    """The command that failed with its return code and words; empty when none did."""
    now: Observed[State]
    """A fresh reading, after the commands or after the one that failed."""
    is_cut_off: bool = False
    """It took the way to the host with it, and the host undid it itself."""
    is_theirs: bool = False
    """The host did not undo it: others had changed it since."""
    is_stale: bool = False
    """No command was run: the state, which is in `now`, was not the one that they lead from."""


class HostControl(Protocol):
    """One host."""

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        """Read the states of all `steps` in one round trip."""
        ...

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        """Run `commands` up to the first that fails, then read the step's state, in one trip.

        No command is run unless the step is in the state `now`, from which they lead; `now` None:
        they are run in any state.
        """
        ...


@runtime_checkable
class Lockable(Protocol):
    """Control of a host that one run at a time changes."""

    def lock(self, claim: Claim) -> str:
        """Lock the host; give its boot id. Raises InputError `host.in_use`."""
        ...

    def unlock(self, claim: Claim) -> None:
        """Let other runs lock it."""
        ...


@runtime_checkable
class CopyKeeper(Protocol):
    """Control of a host that may keep a copy of the journal."""

    @property
    def keeps_copy(self) -> bool:
        """Whether it does."""
        ...

    def keep_copy(self, copy: HostCopy) -> None:
        """Keep this copy from now on: `take` reads the host's, each change adds to it."""
        ...
