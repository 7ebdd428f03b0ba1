"""What undo does where something is neither as the run left it nor as it was before."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HowUndone:
    """As the user says."""

    force: bool = False
    """What others changed is put back too."""
    forget: tuple[str, ...] = ()
    """Steps that are let go, by number, or by kind and subject."""


AS_EVER = HowUndone()
