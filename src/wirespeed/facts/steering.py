"""Which queue a frame goes to: the RSS table of the card, XPS and RPS of the kernel."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed


@dataclass(frozen=True, slots=True)
class NetdevSteering:
    """RSS, XPS and RPS of one netdev."""

    rss_entries: Observed[dict[int, int]]
    """Receive queue: how many entries of the indirection table name it. Queues without are left
    out. Absent: the card has no table."""
    rx_rings: Observed[int]
    """Receive queues that the table can name."""
    has_hash_key: Observed[bool]
    """The key itself is not kept: who knows it can aim all frames at one queue."""
    hash_function: Observed[str]
    """`toeplitz`, `xor` or `crc32`: the one that is on."""
    xps_cpus: dict[int, Observed[frozenset[int]]]
    """Transmit queue: the CPUs that use it. Empty: XPS is not set, a hash of the flow chooses."""
    rps_cpus: dict[int, Observed[frozenset[int]]]
    """Receive queue: the CPUs that its frames are handed to. Empty: the one of the interrupt."""
    rps_flow_count: dict[int, Observed[int]]
    """Receive queue: entries of its table of flows. 0: RFS is off."""


@dataclass(frozen=True, slots=True)
class Steering(Fact):
    """Steering by netdev."""

    netdevs: dict[str, NetdevSteering]

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `ethtool-rss` of every netdev and the files of `queues`."""
        raise NotImplementedError

    def of(self, netdev: str) -> NetdevSteering:
        """Steering of one netdev; unreadable where it was not asked for."""
        raise NotImplementedError
