"""Queues of a netdev: descriptors in a ring and number of channels, now and at most."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.ethtool import before_and_now, ethtool_answer, number_of
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Known, Observed
from wirespeed.model.port import Port


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
    """0: it has channels of one direction only."""
    rx_channels: Observed[int]
    """Channels of receive queues only; most drivers have none."""
    rx_channels_max: Observed[int]
    tx_channels: Observed[int]
    tx_channels_max: Observed[int]


@dataclass(frozen=True, slots=True)
class Queues(Fact):
    """Queues of every port's netdev."""

    netdevs: dict[str, NetdevQueues]

    script: ClassVar[str] = """\
for netdev in $port_netdevs; do
	run ethtool-rings "$netdev" ethtool -g "$netdev"
	run ethtool-channels "$netdev" ethtool -l "$netdev"
done
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `ethtool-rings` and `ethtool-channels` of each netdev."""
        netdevs = (
            capture.sections("ethtool-rings").keys() | capture.sections("ethtool-channels").keys()
        )
        return cls({netdev: _read(capture, netdev) for netdev in netdevs})

    def of(self, netdev: str) -> NetdevQueues:
        """Queues of one netdev; unreadable where it was not asked about."""
        return self.netdevs.get(netdev) or _read(Capture([], complete=False), netdev)

    def longest_ring(self, ports: Iterable[Port]) -> Known[int] | None:
        """Give the most descriptors that a receive ring of these ports can have; None: unknown."""
        rings = [self.of(port.netdev or "").rx_ring_descriptors_max for port in ports]
        return max((r for r in rings if isinstance(r, Known)), key=lambda r: r.value, default=None)


def _read(capture: Capture, netdev: str) -> NetdevQueues:
    rings = ethtool_answer(capture, "ethtool-rings", netdev, "-g")
    rings_max, rings_now = before_and_now(rings)
    channels = ethtool_answer(capture, "ethtool-channels", netdev, "-l")
    channels_max, channels_now = before_and_now(channels)
    return NetdevQueues(
        rx_ring_descriptors=number_of(rings_now, "RX"),
        rx_ring_descriptors_max=number_of(rings_max, "RX"),
        tx_ring_descriptors=number_of(rings_now, "TX"),
        tx_ring_descriptors_max=number_of(rings_max, "TX"),
        combined_channels=number_of(channels_now, "Combined"),
        combined_channels_max=number_of(channels_max, "Combined"),
        rx_channels=number_of(channels_now, "RX"),
        rx_channels_max=number_of(channels_max, "RX"),
        tx_channels=number_of(channels_now, "TX"),
        tx_channels_max=number_of(channels_max, "TX"),
    )
