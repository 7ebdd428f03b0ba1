"""Netdevs and how they stack: bonds, bridges, VLANs, tunnels, VFs' settings, MTUs, addresses."""

from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed, Unreadable

IP_LINK = "ip -d link show"
IP_ADDR = "ip addr show"


@dataclass(frozen=True, slots=True)
class VfSettings:
    """What a PF enforces on one of its VFs, as `ip link show` of the PF lists it."""

    index: int
    """Number of the VF, from 0."""
    has_mac: Observed[bool]
    """False: the address is all zeros, and the guest draws one."""
    vlan: Observed[int]
    """Tag that the card adds and strips; 0 is none."""
    is_spoof_checked: Observed[bool]
    is_trusted: Observed[bool]
    link_state: Observed[str]
    """`auto`, `enable`, `disable`."""
    max_tx_mbit_per_s: Observed[int]
    """0 is no limit."""


@dataclass(frozen=True, slots=True)
class Bond:
    """Options of a bond, by the kernel's names."""

    mode: Observed[str]
    """`active-backup`, `802.3ad`, `balance-xor`, …"""
    miimon_ms: Observed[int]
    """0: the link of the members is not watched."""
    arp_interval_ms: Observed[int]
    """0: no ARP probes."""
    active_port: Observed[str]
    """Netdev that carries the traffic; Absent where the mode has none or no member is up."""
    xmit_hash_policy: Observed[str]


@dataclass(frozen=True, slots=True)
class Vxlan:
    """A VXLAN tunnel of the kernel, Open vSwitch's own (`vxlan_sys_4789`) included."""

    vni: Observed[int]
    """Absent where each packet carries its own (`external`)."""
    local: Observed[str]
    remote: Observed[str]
    """Peer or multicast group; Absent where each packet or the forwarding table has it."""
    dst_port: Observed[int]
    underlay: Observed[str]
    """Netdev that it is bound to; Absent: the routing table picks one."""


@dataclass(frozen=True, slots=True)
class Link:
    """One netdev."""

    netdev: str
    index: int
    mtu: Observed[int]
    max_mtu: Observed[int]
    flags: tuple[str, ...]
    """As the kernel has them: `UP`, `LOWER_UP`, `NO-CARRIER`, …"""
    operstate: Observed[str]
    mac: Observed[str]
    kind: Observed[str]
    """`bond`, `bridge`, `vlan`, `vxlan`, `veth`, `openvswitch`, …; Absent: a device of its own."""
    master: Observed[str]
    """Bond, bridge, VRF or `ovs-system` that it belongs to."""
    lower: Observed[str]
    """Netdev that a VLAN, a macvlan or a bound tunnel lies on."""
    pci_address: Observed[str]
    switch_id: Observed[str]
    """Same for every port of one eswitch; Absent where there is none or its mode is legacy."""
    phys_port_name: Observed[str]
    """`p0` an uplink, `pf0vf3` or `c0pf0vf3` a VF representor."""
    bond: Bond | None
    vlan_id: Observed[int]
    vxlan: Vxlan | None
    vfs: tuple[VfSettings, ...]
    addresses: Observed[tuple[IPv4Interface | IPv6Interface, ...]]


@dataclass(frozen=True, slots=True)
class NetStack(Fact):
    """Every netdev of the host's network namespace by its name."""

    links: Observed[dict[str, Link]]

    script: ClassVar[str] = """\
run ip-link - ip -j -d link show
run ip-addr - ip -j addr show
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:  # noqa: ARG003
        """Read both lists of JSON objects."""
        return cls(Unreadable("not parsed", IP_LINK))
