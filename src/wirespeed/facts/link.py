"""The Ethernet link of every port: speed, modes of both ends, FEC, pause, and why it is down."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed


@dataclass(frozen=True, slots=True)
class Modes:
    """What one side says that it can do. Names are ethtool's: `25000baseCR/Full`, `RS`."""

    modes: Observed[tuple[str, ...]]
    bps: Observed[tuple[int, ...]]
    """Speeds of those modes, lowest first; of modes whose name is not understood there is none."""
    fec: Observed[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Pause:
    """Flow control by pause frames (IEEE 802.3 annex 31B), as set and as negotiated."""

    autonegotiation: Observed[bool]
    receive: Observed[bool]
    """Pause frames of the peer are obeyed."""
    transmit: Observed[bool]


@dataclass(frozen=True, slots=True)
class Driver:
    """`ethtool -i`."""

    name: Observed[str]
    version: Observed[str]
    firmware_version: Observed[str]
    bus_info: Observed[str]


@dataclass(frozen=True, slots=True)
class Link:
    """The link of one netdev."""

    netdev: str
    is_up: Observed[bool]
    """A carrier is there."""
    down_reason: Observed[str]
    """The kernel's words: `No cable`, `Autoneg, No partner detected`. Absent while it is up."""
    link_bps: Observed[int]
    is_full_duplex: Observed[bool]
    port_type: Observed[str]
    """`FIBRE`, `Direct Attach Copper`, `Twisted Pair`, …"""
    autonegotiation: Observed[bool]
    supported: Modes
    advertised: Modes
    partner: Modes
    """Absent where the peer told nothing: it is forced, or the driver does not pass it on."""
    fec_configured: Observed[tuple[str, ...]]
    """`Auto`, `Off`, `RS`, `BaseR`, `LLRS`."""
    fec_active: Observed[tuple[str, ...]]
    pause: Pause
    driver: Driver

    @property
    def supported_bps(self) -> Observed[tuple[int, ...]]:
        """Every speed that the port can do, lowest first."""
        return self.supported.bps


@dataclass(frozen=True, slots=True)
class Links(Fact):
    """The link of every port that has a netdev."""

    by_netdev: dict[str, Link]

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:  # noqa: ARG003
        """Read `link`, `ethtool` and its kin."""
        return cls({})
