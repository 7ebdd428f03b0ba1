"""What a port counted, by the place on a frame's way: since boot and during the capture."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Observed, Unreadable


class Place(StrEnum):
    """Where a frame was counted. Frames, unless it says otherwise."""

    RECEIVED = "frames received"
    SENT = "frames sent"
    PORT_BUFFER = "port buffer"
    """Dropped in the card's own buffer: what is behind it takes frames too slowly."""
    PCIE = "PCIe back-pressure"
    """Dropped because the PCIe link did not take what came in."""
    PCIE_STALLED_SECONDS = "seconds with PCIe stalls"
    """Seconds in which the card waited for PCIe credits for over 30 % of the time."""
    NO_RECEIVE_BUFFER = "no receive buffer"
    """Dropped because no receive descriptor was posted: the CPU is too slow or away."""
    NO_MEMORY = "no memory for a receive buffer"
    """Allocations that failed when a receive buffer was to be filled again."""
    PHYSICAL = "physical errors"
    """Frames that arrived damaged: cable, module, FEC."""
    FEC_CORRECTED = "FEC corrected"
    """Code words, or bits where that is what the card counts."""
    FEC_UNCORRECTED = "FEC uncorrected"
    """Code words or symbols that FEC could not mend."""
    TRANSMIT = "transmit drops"
    STEERING = "no flow rule"
    """Dropped because no rule of the card's flow table took it."""
    PAUSE_RECEIVED = "pause frames received"
    """The peer holds our transmit side back."""
    PAUSE_SENT = "pause frames sent"
    """We hold the peer back."""
    PAUSE_RECEIVED_US = "time held back by pause frames"
    """Microseconds."""
    PAUSE_SENT_US = "time that the peer was held back"
    """Microseconds."""


@dataclass(frozen=True, slots=True)
class Delta:
    """How much one place counted between the two readings."""

    count: int
    seconds: float
    """Between the two readings, by /proc/uptime beside each."""
    counters: tuple[str, ...]
    """Names of the counters that it is the sum of."""

    @property
    def frames(self) -> int:
        """The count, of a place that counts frames."""
        return self.count

    @property
    def per_second(self) -> float:
        """Count per second."""
        return self.count / self.seconds


@dataclass(frozen=True, slots=True)
class PortCounters:
    """What one port counted at the places that its driver has a known counter for."""

    totals: dict[Place, Observed[int]]
    """Since the driver was loaded, at the end of the capture."""
    deltas: dict[Place, Observed[Delta]]
    """Unreadable where a counter went down: it was reset in between."""
    stalled_percent: Observed[int]
    """Share of the last second in which the card waited for PCIe credits, the worse direction."""


@dataclass(frozen=True, slots=True)
class Counters(Fact):
    """Counters of every port that has a netdev."""

    by_netdev: dict[str, PortCounters]

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:  # noqa: ARG003
        """Read the two readings."""
        return cls({})

    def delta(self, netdev: str | None, place: Place) -> Observed[Delta]:
        """What a place counted during the capture; Absent where the driver has no such counter."""
        port = self.by_netdev.get(netdev or "")
        if port is None:
            return Unreadable("the capture has no counters of it", f"ethtool -S {netdev}")
        return port.deltas.get(place, Absent(f"ethtool -S {netdev}", "no such counter"))

    def total(self, netdev: str | None, place: Place) -> Observed[int]:
        """What a place counted since the driver was loaded."""
        port = self.by_netdev.get(netdev or "")
        if port is None:
            return Unreadable("the capture has no counters of it", f"ethtool -S {netdev}")
        return port.totals.get(place, Absent(f"ethtool -S {netdev}", "no such counter"))
