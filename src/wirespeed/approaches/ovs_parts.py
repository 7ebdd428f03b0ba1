"""What approaches with Open vSwitch have in common: underlay, bridges, tunnels, features."""

from collections.abc import Iterator
from typing import Literal

from wirespeed.approaches.host_ports import mtu_steps, netdev_of, port_of
from wirespeed.approaches.overlay import bridge_of, meshes, networks_on, underlay_address
from wirespeed.approaches.traits import Feature, RequestedStep
from wirespeed.ceilings.encapsulation import Encapsulation
from wirespeed.facts.ovs import Ovs
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec.guest_networks import TUNNEL_BYTES, GuestNetworks
from wirespeed.model.spec.networks import Failover, Tunnel
from wirespeed.steps.address import Address
from wirespeed.steps.bond import Bond
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.module import Module
from wirespeed.steps.offloads import Offloads
from wirespeed.steps.ovs_bridge import OvsBridge
from wirespeed.steps.ovs_port import OvsPort

UNDERLAY = "underlay0"
OWNER = "overlay"
PHYSICAL = "br-phy"
"""Bridge of the underlay, in userspace."""
MIIMON_MS = 100
OVERLAY_FEATURES = {
    Feature.SEGMENTS: "VXLAN or Geneve: 16 million",
    Feature.NETWORK_BETWEEN: "IP, and 50 bytes more a frame (70 over IPv6)",
    Feature.FAILOVER: "the host: guests have one port",
}


def underlay_steps(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the bond of both ports, with the host's address; or one port, with no fail-over."""
    addresses = spec.hosts[name].ports
    ports = tuple(netdev_of(host, name, address) for address in addresses)
    for port, address in zip(ports, addresses, strict=True):
        if port_of(host, name, address).driver == "igb":
            # Else TCP within a tunnel gets nothing through, though ping does.
            yield RequestedStep(Offloads(netdev=port, features={"tx-checksum-ip-generic": False}))
    netdev = ports[0]
    is_bond = spec.has_bonds
    if is_bond:
        netdev = UNDERLAY
        # Without the parameter, the module makes a bond0 of its own.
        reason = "the bond needs it; loaded by that, it would stay after undo"
        yield RequestedStep(Module(name="bonding", parameters=("max_bonds=0",), reason=reason))
        yield RequestedStep(_bond(spec, ports))
    # A bond hands its MTU down to its members.
    yield from mtu_steps(host, netdev, spec.underlay.mtu, is_made=is_bond)
    if not is_bond:
        yield RequestedStep(LinkUp(netdev=netdev))
    yield RequestedStep(Address(netdev=netdev, address=underlay_address(spec, name)), is_bond)


def _bond(spec: GuestNetworks, ports: tuple[str, ...]) -> Bond:
    """Give the bond of both ports. By LACP, a tunnel's flows go over both: their UDP ports differ.

    mlx5 takes 802.3ad into the card (VF-LAG), and hashes there as the policy says where its
    firmware can choose ports by hash; else each queue stays with a port (mlx5, lag/lag.c).
    """
    if spec.failover is not Failover.LACP:
        return Bond(netdev=UNDERLAY, members=ports, mode="active-backup", miimon_ms=MIIMON_MS)
    return Bond(
        netdev=UNDERLAY,
        members=ports,
        mode="802.3ad",
        miimon_ms=MIIMON_MS,
        xmit_hash_policy="layer3+4",
        reason="The switch must have both ports as one LAG with LACP; two switches as one (MLAG).",
    )


def bridges(
    spec: GuestNetworks, name: str, datapath: Literal["system", "netdev"] = "system"
) -> Iterator[RequestedStep]:
    """Give a bridge for each network of a host's guests, and its tunnels to the other hosts.

    A bridge's own port stays down: up, it would hand the host what guests send, and with it
    tunnels that guests make themselves.
    """
    for network in networks_on(spec, name):
        bridge = bridge_of(network)
        yield RequestedStep(OvsBridge(bridge=bridge, datapath_type=datapath, owner=OWNER))
        for mesh in meshes(spec, name, network):
            yield RequestedStep(
                OvsPort(
                    bridge=bridge,
                    netdev=mesh.netdev,
                    interface_type=spec.underlay.tunnel.value,
                    options=mesh.options,
                    owner=OWNER,
                )
            )


def restart_reason(spec: GuestNetworks, host: HostFacts, reason: str) -> str:
    """Give the reason of a step that restarts the switch, with what its other bridges lose.

    systemd stops and starts it; only `ovs-ctl restart` saves rules (utilities/ovs-lib.in, restart).
    """
    ours = {PHYSICAL, *map(bridge_of, spec.networks)}
    others = [bridge for bridge in host[Ovs].bridges if bridge not in ours]
    if not others:
        return reason
    return (
        f"{reason} The restart loses OpenFlow rules of {', '.join(others)[:200]} that no "
        "controller sets again: `/usr/share/openvswitch/scripts/ovs-save save-flows BRIDGE` "
        "prints commands that restore them."
    )


def tunnel_of(spec: GuestNetworks) -> tuple[Encapsulation, int]:
    """Give what frames are put into, and the version of the outer IP."""
    is_geneve = spec.underlay.tunnel is Tunnel.GENEVE
    kind = Encapsulation.GENEVE if is_geneve else Encapsulation.VXLAN
    return kind, spec.underlay.subnet.version


def too_small_a_network(spec: GuestNetworks) -> str:
    """Say what the network between the hosts may lack."""
    added = TUNNEL_BYTES[spec.underlay.subnet.version]
    largest = max((network.mtu for network in spec.networks.values()), default=0)
    return f"the network between cannot carry IP packets of {largest + added} bytes"
