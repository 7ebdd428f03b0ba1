"""Queues of a netdev: descriptors in a ring and number of channels, now and at most."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed


@dataclass(frozen=True, slots=True)
class NetdevQueues:
    """`ethtool -g` and `ethtool -l` of one netdev. Absent: the driver has no such number."""

    rx_ring_descriptors: Observed[int]
    rx_ring_descriptors_max: Observed[int]
    tx_ring_descriptors: Observed[int]
    tx_ring_descriptors_max: Observed[int]
    combined_channels: Observed[int]
    """Channels that have a receive and a transmit queue each."""
    combined_channels_max: Observed[int]
    rx_channels: Observed[int]
    """Channels of receive queues only; most drivers have none."""
    rx_channels_max: Observed[int]
    tx_channels: Observed[int]
    tx_channels_max: Observed[int]


@dataclass(frozen=True, slots=True)
class Queues(Fact):
    """Queues by netdev."""

    netdevs: dict[str, NetdevQueues]

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `ethtool-rings` and `ethtool-channels` of every netdev."""
        raise NotImplementedError

    def of(self, netdev: str) -> NetdevQueues:
        """Queues of one netdev; every number is unreadable where none was asked for."""
        raise NotImplementedError
