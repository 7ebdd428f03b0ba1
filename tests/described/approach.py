"""Approaches that tests describe: their steps, under the name of one that a spec can have."""

from collections.abc import Callable, Iterator, Mapping

from wirespeed.approaches.traits import ApproachTraits
from wirespeed.approaches.wanted import Wanted
from wirespeed.model.spec import Approach

Steps = Callable[..., Iterator[Wanted]]


def planned_by(steps: Mapping[Approach, Steps]) -> Callable[[], dict[str, ApproachTraits]]:
    """Give what stands in for `catalog.approaches`."""
    return lambda: {name: ApproachTraits(name, how) for name, how in steps.items()}
