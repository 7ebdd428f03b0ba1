"""A run's claim on a host, and what it makes of a lock that is there already. Pure.

free                                taken
of this run, its process gone       taken over: it was killed, or lost the host
of this run, elsewhere or alive     refused: the run folder was copied
of another run                      refused
anything, with --break-lock         taken over, and told of
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wirespeed.model.error import InputError
from wirespeed.model.owner import Owner, owner_said, parse_owner, runs_said


def _nobody_lives(process: str) -> bool:
    return not process


def _tell_nobody(text: str) -> None:
    del text


@dataclass(frozen=True, slots=True)
class Claim:
    """Who claims a host."""

    owner: Owner
    former: tuple[str, ...] = ()
    """What an older wirespeed wrote into the lock for this very run."""
    breaks: bool = False
    """The user said --break-lock."""
    lives: Callable[[str], bool] = field(default=_nobody_lives, compare=False)
    """Whether a process of this machine is alive, by `Owner.process`."""
    tell: Callable[[str], None] = field(default=_tell_nobody, compare=False)

    @property
    def run(self) -> str:
        """The id of the run."""
        return self.owner.run

    def line(self) -> str:
        """Give the line that is written to the lock."""
        return self.owner.line()

    def takes_over(self, found: str) -> bool:
        """Tell whether a lock with this line is, or may be made, this run's."""
        if self.breaks or found in self.former:
            return True
        other = parse_owner(found)
        if other is None or other.run != self.run:
            return False
        is_here = (
            other.machine == self.owner.machine
            if other.machine and self.owner.machine
            else other.host == self.owner.host
        )
        return is_here and not self.lives(other.process)

    def former_of(self, host: str, found: str) -> str | None:
        """Give the line of a lock that is taken over; None: the lock is broken, whatever it says.

        `tell` is called with the owner of a lock that is broken.
        """
        is_other = self.breaks and found not in self.former
        other = parse_owner(found)
        if is_other and (other is None or other.run != self.run):
            self.tell(f"{host}: its lock was broken; the host was locked by {owner_said(found)}")
        return None if is_other and other is None else found

    def check(self, host: str, found: str, others: Sequence[str], remove: str) -> None:
        """Raise InputError `host.in_use` unless this run has the lock and no other an armed step.

        `others` are the folders of such steps; `remove` is how the lock is removed by hand.
        """
        armed = runs_said(others)
        if found == self.line() and not armed:
            return
        if found == self.line() and self.breaks:
            self.tell(f"{host}: {armed} stays armed: the host undoes it when its time is over")
            return
        held = f"it is locked by {owner_said(found)}" if found != self.line() else ""
        other = parse_owner(found)
        is_copy = other is not None and other.run == self.run and found != self.line()
        copied = ": another copy of this run folder" if is_copy else ""
        raise InputError(
            "host.in_use",
            where=host,
            found=(held + copied) + ("; " if held and armed else "") + armed,
            so="two runs at once would undo each other's changes; nothing was changed",
            next="wait for that run, or finish it with `wirespeed apply` or `wirespeed undo`; if "
            f"it is gone for good, repeat this command with --break-lock ({remove})",
        )
