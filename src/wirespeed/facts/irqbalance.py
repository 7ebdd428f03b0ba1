"""irqbalance: the daemon that moves interrupts between cores."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed


@dataclass(frozen=True, slots=True)
class Irqbalance(Fact):
    """Whether it runs, and what it was told to leave alone."""

    is_running: Observed[bool]
    arguments: Observed[tuple[str, ...]]
    """Its command line without its name. Absent when it does not run."""
    banned_cpus: Observed[frozenset[int]]
    """CPUs that it gives no interrupt to, beside isolated and adaptive-tick ones, which it leaves
    alone by itself. Absent: it was told of none."""
    has_policy: Observed[bool]
    """A policy script or banned interrupts among its arguments: it may leave some alone."""

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the sections `irqbalance` and `irqbalance-environment`."""
        raise NotImplementedError
