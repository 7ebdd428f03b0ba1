"""Live migration over two ports of 10 Gb/s, as somebody published it: figures as data."""

from dataclasses import dataclass

from wirespeed.model.advice import Certainty, Ground

SOURCE = (
    "“High performance live migration done right means using SMB Direct”: live migration between "
    "two Hyper-V hosts (Windows Server 2012 R2), 2 x 10 Gb/s, dual socket, 8 cores each"
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One set-up, over all guests that were moved at once."""

    gbps: tuple[float, float]
    """Lowest and highest that was read, with RSS as it came and optimized."""
    cpu_percent: str


LACP_TCP = Measured((17, 17), "12 to 22")
"""17 Gb/s and 22 % with RSS as it came; 12 % at best with RSS optimized, not more Gb/s."""
LACP_SMB = Measured((17.5, 19), "8 to 24")
"""19 Gb/s and 24 % with RSS as it came; 17.5 and 8 % with RSS optimized, and 19 again."""
SWITCH_INDEPENDENT = Measured((10, 10), "")
"""Receives on one member alone; less CPU than LACP, without a figure."""
MULTICHANNEL = Measured((20, 20), "6 to 7")
"""RSS optimized: 8 queues on 8 physical cores for each card."""
SMB_DIRECT = Measured((20, 20), "")
"""Line rate; the least CPU of all, of which the text gives no figure."""
PUBLISHED_PORTS, PUBLISHED_GBPS = 2, 10
TCP_PER_GUEST_GBPS = (4.5, 5)
"""One core moves one guest over TCP, and is the limit."""


def published(says: str) -> Ground:
    """Make a statement of that publication."""
    return Ground(says=says, certainty=Certainty.PUBLISHED, source=SOURCE)
