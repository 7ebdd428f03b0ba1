"""Several values of one thing, by their ends, and their middle."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from wirespeed.model.frozen import Finite


@dataclass(frozen=True, slots=True)
class Spread:
    """Some values of one thing."""

    median: float
    least: float
    most: float
    n: int
    runs: int | None = None
    """That the values are of, where a run gives several; None: each value is of a run of its own.
    Values of one run are no chance of their own."""

    @property
    def independent(self) -> int:
        """How many values do not depend on each other."""
        return self.n if self.runs is None else self.runs


class Confirmations(Finite):
    """Trials of one load, none of which lost a frame, and how far their rates lie apart."""

    trials: Annotated[int, Field(ge=2)]
    lowest_pps: Annotated[float, Field(gt=0)]
    """Load offered, in frames per second; the throughput of the search."""
    highest_pps: Annotated[float, Field(gt=0)]
