"""What a netdev does for the host: offload features, and the driver's private flags."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed


@dataclass(frozen=True, slots=True)
class Feature:
    """One line of `ethtool -k`."""

    is_on: bool
    is_fixed: bool
    """It cannot be changed."""
    is_requested: bool
    """Somebody asked for it: on but not requested, or off and requested, is the driver's doing."""


@dataclass(frozen=True, slots=True)
class NetdevOffloads:
    """Features and flags of one netdev by the names that ethtool prints."""

    features: Observed[dict[str, Feature]]
    """`tcp-segmentation-offload`, `tx-udp_tnl-segmentation`, …: groups and their members alike."""
    private_flags: Observed[dict[str, bool]]
    """The driver's own: `rx_cqe_compress`, `rx_striding_rq`, …."""

    def feature(self, name: str) -> Observed[Feature]:
        """Give one feature; Absent where this kernel knows none of that name."""
        raise NotImplementedError

    def private_flag(self, name: str) -> Observed[bool]:
        """Give one private flag; Absent where the driver has none of that name."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Offloads(Fact):
    """Offloads by netdev."""

    netdevs: dict[str, NetdevOffloads]

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `ethtool-features` and `ethtool-private-flags` of every netdev."""
        raise NotImplementedError

    def of(self, netdev: str) -> NetdevOffloads:
        """Offloads of one netdev; unreadable where they were not asked for."""
        raise NotImplementedError
