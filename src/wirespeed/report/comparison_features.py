"""What each approach has and lacks by design, and when it is the one to take.

Data, with a spec's own numbers in it; nothing of this is measured.

The experience with drivers is that of the document whose steps the approaches follow, *SR-IOV with
a ConnectX-5* (docs/published-figures.md): Debian 13, ConnectX-5 Ex.
"""

from wirespeed.model.spec import TUNNEL_BYTES, Approach, Spec

COMPARABLE = (Approach.LEGACY_VLAN, Approach.OVS_DPDK, Approach.OVS_TC)
"""Those that bring about the same networks and guests."""
SIMPLEST = (Approach.LEGACY_VLAN, Approach.OVS_TC, Approach.OVS_DPDK)
"""By how much there is to install, to keep running and to understand when it fails."""
_OVERLAY_SEGMENTS = "VXLAN or Geneve: 16 million"
_OVERLAY_NEEDS = "IP, and 50 bytes more a frame (70 over IPv6)"
_HOST_FAILS_OVER = "the host: guests have one port"
FEATURES: tuple[tuple[str, dict[Approach, str]], ...] = (
    (
        "Segments",
        {
            Approach.LEGACY_VLAN: "VLANs: 4094",
            Approach.OVS_DPDK: _OVERLAY_SEGMENTS,
            Approach.OVS_TC: _OVERLAY_SEGMENTS,
        },
    ),
    (
        "Needs of the network between",
        {
            Approach.LEGACY_VLAN: "the VLANs on every switch port",
            Approach.OVS_DPDK: _OVERLAY_NEEDS,
            Approach.OVS_TC: _OVERLAY_NEEDS,
        },
    ),
    (
        "Fail-over is done by",
        {
            Approach.LEGACY_VLAN: "each guest: a bond of two VFs",
            Approach.OVS_DPDK: _HOST_FAILS_OVER,
            Approach.OVS_TC: _HOST_FAILS_OVER,
        },
    ),
    (
        "Who moves the frames",
        {
            Approach.LEGACY_VLAN: "the card",
            Approach.OVS_DPDK: "cores that poll, all of the time; a card that offloads takes flows",
            Approach.OVS_TC: "the kernel; a card in switchdev mode takes the flows",
        },
    ),
    (
        "Filters and rules between guests",
        {
            Approach.LEGACY_VLAN: "VLAN, MAC and maximum rate of each VF; no more",
            Approach.OVS_DPDK: "OpenFlow",
            Approach.OVS_TC: "OpenFlow; what tc flower cannot say stays in software",
        },
    ),
    (
        "Runs besides the kernel",
        {
            Approach.LEGACY_VLAN: "nothing",
            Approach.OVS_DPDK: "Open vSwitch with DPDK, hugepages",
            Approach.OVS_TC: "Open vSwitch",
        },
    ),
    (
        "When its daemon stops",
        {
            Approach.LEGACY_VLAN: "there is none",
            Approach.OVS_DPDK: "all traffic stops with it",
            Approach.OVS_TC: "flows that are there go on; new ones find no way",
        },
    ),
    (
        "Driver of a ConnectX-5, as published",
        {
            Approach.LEGACY_VLAN: "Debian 13's own; VF-LAG was not got to work",
            Approach.OVS_DPDK: "the vendor's (DOCA); with Debian's own a VF did not fail over",
            Approach.OVS_TC: "the vendor's (DOCA); with Debian's own nothing was offloaded",
        },
    ),
)  # fmt: skip
"""What an approach has, whatever is measured."""


def take_it_when(spec: Spec, approach: Approach) -> str:
    """Say for whom it is."""
    segments = ", ".join(str(network.segment) for network in spec.networks.values())
    match approach:
        case Approach.LEGACY_VLAN:
            return (
                f"the switches between the hosts are yours and may carry VLAN {segments} to each "
                "port, and a VF's VLAN and MAC are all the rules that guests need"
            )
        case Approach.OVS_TC:
            return (
                "hosts are joined by an IP network that need know nothing of tenants, guests shall "
                "not care for fail-over, and the card has a switch that takes the flows; without "
                "one, cores of the host do the work"
            )
        case _:
            return (
                "guests speak vhost-user, or small frames matter and the card takes no flows, and "
                "a core on each host may poll all of the time"
            )


def leave_it_when(spec: Spec, approach: Approach) -> str:
    """Say for whom it is not."""
    added = TUNNEL_BYTES[spec.underlay.subnet.version]
    largest = max((network.mtu for network in spec.networks.values()), default=0)
    room = f"the network between cannot carry IP packets of {largest + added} bytes"
    match approach:
        case Approach.LEGACY_VLAN:
            counts = [
                sum(len(guest.networks) for guest in spec.guests.values() if guest.host == host)
                for host in spec.hosts
            ]
            return (
                "routers stand between the hosts, there are more than 4094 networks, or a card has "
                f"too few VFs: this spec takes {max(counts)} of a port"
            )
        case Approach.OVS_TC:
            return f"{room}, or the driver at hand offloads nothing and cores are dear"
        case _:
            return f"{room}, or {len(spec.hosts)} cores that are busy at rest are too many"
