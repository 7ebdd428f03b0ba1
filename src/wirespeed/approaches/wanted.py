"""What an approach asks of the planner."""

from dataclasses import dataclass

from wirespeed.model.step import Step


@dataclass(frozen=True, slots=True)
class Wanted:
    """One step, in its place."""

    step: Step
    is_made: bool = False
    """An earlier step makes what it is about: there is nothing to read yet."""
