"""Interrupt coalescing of a netdev: how long it waits before it tells the host of frames."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed


@dataclass(frozen=True, slots=True)
class NetdevCoalescing:
    """`ethtool -c` of one netdev. Absent: the driver has no such setting."""

    adaptive_rx: Observed[bool]
    """The driver chooses the delays itself, from the load."""
    adaptive_tx: Observed[bool]
    rx_usecs: Observed[int]
    """Microseconds that the first frame waits for more; 0: none."""
    rx_frames: Observed[int]
    """Frames after which it does not wait any longer."""
    tx_usecs: Observed[int]
    tx_frames: Observed[int]
    cqe_mode_rx: Observed[bool]
    """The wait starts anew at every completion, not at the first one."""
    cqe_mode_tx: Observed[bool]


@dataclass(frozen=True, slots=True)
class Coalescing(Fact):
    """Coalescing by netdev."""

    netdevs: dict[str, NetdevCoalescing]

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `ethtool-coalescing` of every netdev."""
        raise NotImplementedError

    def of(self, netdev: str) -> NetdevCoalescing:
        """Coalescing of one netdev; unreadable where it was not asked for."""
        raise NotImplementedError
