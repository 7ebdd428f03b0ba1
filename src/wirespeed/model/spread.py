"""Several values of one thing, by their middle and their ends."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """Some values of one thing."""

    median: float
    least: float
    most: float
    n: int
