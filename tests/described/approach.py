"""Approaches that tests describe: their steps, under the name of one that a spec can have."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from wirespeed.approaches.traits import ApproachTraits, RequestedStep
from wirespeed.catalog import approaches

REAL = approaches()
Steps = Callable[..., Iterator[RequestedStep]]


def planned_by(steps: Mapping[str, Steps]) -> Callable[[], dict[str, ApproachTraits[Any]]]:
    """Give what stands in for `catalog.approaches`."""
    return lambda: {name: ApproachTraits(REAL[name].spec, how) for name, how in steps.items()}
