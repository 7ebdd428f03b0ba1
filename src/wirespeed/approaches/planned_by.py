"""What the planner knows of an approach: its name in a spec, and the steps that it takes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wirespeed.approaches.wanted import Wanted
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec import Approach, Spec


@dataclass(frozen=True, slots=True)
class PlannedBy:
    """How guests come to the card. Each approach has one, called APPROACH, in its file."""

    name: Approach
    """After `approach:` in a spec."""
    steps: Callable[[Spec, str, HostFacts], Iterator[Wanted]]
    """Of one host of the spec, by its facts. Raises InputError `spec.*`, CannotTellError."""
