"""A limit of what a finding costs, where the cost itself depends on what cannot be read."""

from enum import StrEnum
from typing import Self

from wirespeed.model.ceiling import Input
from wirespeed.model.frozen import Frozen


class Limit(StrEnum):
    """Which side of the cost is known."""

    AT_LEAST = "at least"
    AT_MOST = "at most"
    EXACTLY = "exactly"


class BoundUnit(StrEnum):
    """What a bound is counted in."""

    LOAD_PPS = "frames/s"
    SECONDS = "s"
    SHARE = "share"
    """0 to 1."""
    CORES = "cores"


class Bound(Frozen):
    """A limit, what it is of, and how it was computed. It never ranks a finding."""

    limit: Limit
    value: float
    unit: BoundUnit
    of: str
    """What follows the figure: `of what a thread that polls carries`."""
    formula: str
    inputs: tuple[Input, ...] = ()

    @classmethod
    def of_share(cls, limit: Limit, share: float, of: str, formula: str, *inputs: Input) -> Self:
        """Make the bound of a share, 0 to 1."""
        return cls(
            limit=limit, value=share, unit=BoundUnit.SHARE, of=of, formula=formula, inputs=inputs
        )
