"""The network between hosts, and those of guests that run over it."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StrictInt

from wirespeed.model.frozen import Frozen
from wirespeed.model.spec.names import Mtu
from wirespeed.model.subnet import Ipv4Subnet, Subnet

MAX_VLAN = 4094


class Failover(StrEnum):
    """What happens when a port or its switch is gone."""

    ACTIVE_BACKUP = "active-backup"
    LACP = "lacp"
    """Both ports carry traffic, by the flow: the switches have them as one LAG (802.3ad)."""
    NONE = "none"


class Tunnel(StrEnum):
    """What the frames of a network are packed in on their way to another host."""

    VXLAN = "vxlan"
    GENEVE = "geneve"


class UnderlayDriver(StrEnum):
    """Who drives the ports of ovs-dpdk, where the card has no embedded switch that it knows."""

    KERNEL = "kernel"
    """The kernel, as before: the switch takes its netdevs."""
    VFIO_PCI = "vfio-pci"
    """DPDK: the whole port leaves the kernel."""


class HostNetwork(Frozen):
    """The network between the ports of hosts; also the MTU of the ports."""

    subnet: Ipv4Subnet
    mtu: Mtu
    vlan: Annotated[StrictInt, Field(ge=1, le=MAX_VLAN)] | None = None
    """Each port's address is on a netdev of its own then, whose frames have this tag."""


class Underlay(Frozen):
    """The network between the hosts that tunnels run over; also the MTU of the ports."""

    subnet: Subnet
    mtu: Mtu
    tunnel: Tunnel = Tunnel.VXLAN
    """Of the Open vSwitch approaches."""
    driver: UnderlayDriver = UnderlayDriver.KERNEL


class NetworkSpec(Frozen):
    """A network of guests, kept apart from the others."""

    segment: StrictInt
    """VLAN id or VXLAN network identifier, by the approach."""
    subnet: Ipv4Subnet
    mtu: Mtu
