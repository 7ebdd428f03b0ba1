"""Open vSwitch: bridges, ports, what is asked of it, and what its daemon says is so."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed, Unreadable


@dataclass(frozen=True, slots=True)
class OvsInterface:
    """A row of the table Interface."""

    name: str
    kind: str
    """`system` (also written as nothing), `internal`, `dpdk`, `vxlan`, `dpdkvhostuserclient`, …"""
    options: dict[str, str]
    mtu: Observed[int]
    mtu_request: Observed[int]
    error: Observed[str]
    """Why it could not be made; Absent: it could."""
    link_state: Observed[str]


@dataclass(frozen=True, slots=True)
class OvsPort:
    """A row of the table Port."""

    name: str
    interfaces: tuple[str, ...]
    """More than one: a bond."""
    bond_mode: Observed[str]
    vlan: Observed[int]


@dataclass(frozen=True, slots=True)
class OvsBridge:
    """A row of the table Bridge."""

    name: str
    datapath_type: str
    """`netdev` is the userspace datapath; `` and `system` are the kernel's."""
    ports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ovs(Fact):
    """The whole switch."""

    other_config: Observed[dict[str, str]]
    """Absent: Open vSwitch is not installed. Unreadable: its database does not answer."""
    dpdk_initialized: Observed[bool]
    version: Observed[str]
    bridges: dict[str, OvsBridge]
    ports: dict[str, OvsPort]
    interfaces: dict[str, OvsInterface]
    datapath_flows: Observed[int]
    """Flows that the daemon keeps in the datapath, of all datapaths."""
    offloaded_flows: Observed[int]
    """Of them in hardware; Absent: the running daemon has offload off, or is older than 2.14."""

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:  # noqa: ARG003
        """Read the tables of the database and `upcall/show`."""
        why = Unreadable("not parsed", "ovs-vsctl show")
        return cls(why, why, why, {}, {}, {}, why, why)
