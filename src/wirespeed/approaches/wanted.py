"""What an approach asks of the planner."""

from dataclasses import dataclass

from wirespeed.model.step import Step


@dataclass(frozen=True, slots=True)
class Wanted:
    """One step, in its place."""

    step: Step
    is_made: bool = False
    """An earlier step makes what it is about, where it is not there: that it cannot be read yet
    is no obstacle."""
    guest: str = ""
    """The virtual machine that it runs in, by its name in the spec, or the other side of the host
    (`desk.windows`); else it runs on the host."""
