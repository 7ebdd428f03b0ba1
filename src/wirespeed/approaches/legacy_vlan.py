"""SR-IOV with VLANs, by the kernel's own driver: a guest owns a VF of each port for each network.

The card tags and strips: whatever a guest sends, it reaches no guest of another network. A guest
bonds its two VFs itself, active-backup; both have one MAC, so that no VF needs to be trusted.

On the host, in this order: the card's firmware, where it offers too few VFs; vfio-pci, where guests
need it; each port's MTU (before VFs, which may not have a larger one) and its link; its VFs; each
VF's VLAN and MAC; vfio-pci bound to those that are handed out. Then each guest that is a namespace:
its VFs' netdevs moved into it, bond, MTU, address.
"""

from collections.abc import Iterator

from wirespeed.approaches.guest_index import guest_index
from wirespeed.approaches.guest_network import (
    DEAF_DRIVERS,
    guest_mac,
    guest_networks,
    steps_in_guest,
)
from wirespeed.approaches.host_ports import mtu_steps, netdev_of, port_of
from wirespeed.approaches.legacy_vlan_vm import virtual_machines
from wirespeed.approaches.traits import (
    ApproachTraits,
    Between,
    Compared,
    Feature,
    Proven,
    RequestedStep,
)
from wirespeed.approaches.vf_ports import (
    firmware_steps,
    pf_with_room,
    port_channels,
    refuse_switchdev,
    unmanaged_vfs,
    unprobed,
    vf_address,
    vf_shares,
)
from wirespeed.ceilings.encapsulation import Encapsulation
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.spec.guests import GuestKind
from wirespeed.model.spec.members import LegacyVlan
from wirespeed.model.spec.networks import NetworkSpec
from wirespeed.steps.driver_override import DriverOverride
from wirespeed.steps.in_namespace import InNamespace
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.module import Module
from wirespeed.steps.namespace import Namespace
from wirespeed.steps.vf_count import VfCount
from wirespeed.steps.vf_in_namespace import VfInNamespace
from wirespeed.steps.vf_mac import VfMac
from wirespeed.steps.vf_settings import VfSettings


def legacy_vlan(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the steps of the host `name`.

    If the firmware of its cards must be set to offer more VFs, steps of VFs are left out: their PCI
    addresses are known only after the reboot.

    Raises InputError `spec.*` where the host has no such port or too few VFs, and
    CannotTellError where that is not known.
    """
    shares = vf_shares(spec, name)
    firmware = list(firmware_steps(spec, name, host)) if shares else []
    yield from map(RequestedStep, firmware)
    if any(not _is_namespace(spec, guest) for guest, _ in shares):
        yield RequestedStep(
            Module(name="vfio-pci", reason="hands a VF to a guest, behind the IOMMU")
        )
    for address in spec.hosts[name].ports:
        netdev = netdev_of(host, name, address)
        if shares and not firmware:
            yield from port_channels(name, host, address)
        yield from mtu_steps(host, netdev, spec.underlay.mtu)
        yield RequestedStep(LinkUp(netdev=netdev))
        if shares and not firmware:
            yield from _vfs(spec, name, host, address)
    if shares and not firmware:
        yield from _namespaces(spec, name, host)
        yield from virtual_machines(spec, name, host)


def _vfs(spec: GuestNetworks, name: str, host: HostFacts, address: str) -> Iterator[RequestedStep]:
    """Give the VFs of one port."""
    shares = vf_shares(spec, name)
    netdev = netdev_of(host, name, address)
    pf = pf_with_room(spec, name, host, address)
    refuse_switchdev(name, host, address, "approach: ovs-tc")
    yield from map(RequestedStep, unmanaged_vfs(spec, name, host, pf))
    yield from map(RequestedStep, unprobed(spec, name, host, address))
    yield RequestedStep(VfCount(pci_address=address, num_vfs=len(shares)))
    is_made = isinstance(pf.num_vfs, Known) and pf.num_vfs.value == 0
    for vf, (guest, network) in enumerate(shares):
        yield RequestedStep(_settings(netdev, vf, guest, network, spec.networks[network]), is_made)
    for vf, (guest, _) in enumerate(shares):
        if not _is_namespace(spec, guest):
            yield RequestedStep(DriverOverride(pci_address=vf_address(pf, vf)), is_made)


def _namespaces(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give all guests of a host that are namespaces."""
    guests = [guest for guest in guest_index(spec).by_host[name] if _is_namespace(spec, guest)]
    if any(of.netdev not in of.members for guest in guests for of in guest_networks(spec, guest)):
        # Without the parameter, the module makes a bond0 of its own on the host.
        reason = "bonds of guests need it; loaded by them, it would stay after undo"
        yield RequestedStep(Module(name="bonding", parameters=("max_bonds=0",), reason=reason))
    for guest in guests:
        yield from _namespace(spec, name, host, guest)


def _namespace(
    spec: GuestNetworks, name: str, host: HostFacts, guest: str
) -> Iterator[RequestedStep]:
    """Give the namespace of a guest, and what is in it."""
    shares = vf_shares(spec, name)
    ports = spec.hosts[name].ports
    is_deaf = any(port_of(host, name, port).driver in DEAF_DRIVERS for port in ports)
    yield RequestedStep(Namespace(namespace=guest))
    yield RequestedStep(InNamespace.of(guest, LinkUp(netdev="lo")), is_made=True)
    for network in guest_networks(spec, guest):
        vf = shares.index((guest, network.network))
        for port, member in zip(ports, network.members, strict=True):
            at = vf_address(pf_with_room(spec, name, host, port), vf)
            yield RequestedStep(
                VfMac(pci_address=at, mac=network.mac, namespace=guest), is_made=True
            )
            into = VfInNamespace(pci_address=at, namespace=guest, netdev=member)
            yield RequestedStep(into, is_made=True)
        for step in steps_in_guest(spec, guest, network, is_deaf=is_deaf):
            yield RequestedStep(InNamespace.of(guest, step), is_made=True)


def _is_namespace(spec: GuestNetworks, guest: str) -> bool:
    return spec.guests[guest].kind is GuestKind.NAMESPACE


def _settings(netdev: str, vf: int, guest: str, network: str, of: NetworkSpec) -> VfSettings:
    return VfSettings(netdev=netdev, vf=vf, mac=guest_mac(guest, network), vlan=of.segment)


def _take_it_when(spec: GuestNetworks) -> str:
    tags = ", ".join(str(network.segment) for network in spec.networks.values() if network.segment)
    carried = f"VLAN {tags}" if tags else "frames without a tag"
    return (
        f"the switches between the hosts are yours and may carry {carried} to each "
        "port, and a VF's VLAN and MAC are all the rules that guests need"
    )


def _leave_it_when(spec: GuestNetworks) -> str:
    counts = [
        sum(len(guest.networks) for guest in spec.guests.values() if guest.host == host)
        for host in spec.hosts
    ]
    return (
        "there are routers between the hosts, there are more than 4094 networks, or a card has "
        f"too few VFs: this spec takes {max(counts)} of a port"
    )


APPROACH = ApproachTraits(
    LegacyVlan,
    legacy_vlan,
    Proven(Between.GUESTS, no_switch="a VF's frames never come to a switch of the host"),
    Compared(
        simplicity=1,
        place=1,
        features={
            Feature.SEGMENTS: "VLANs: 4094",
            Feature.NETWORK_BETWEEN: "the VLANs on every switch port",
            Feature.FAILOVER: "each guest: a bond of two VFs",
            Feature.MOVES_FRAMES: "the card",
            Feature.FILTERS: "VLAN, MAC and maximum rate of each VF; no more",
            Feature.PROGRAMS: "nothing",
            Feature.DAEMON_STOPS: "there is none",
            Feature.OTHER_PORTS: "not planned: a guest has VFs; both need switchdev mode",
            Feature.DRIVER: "Debian 13's own; VF-LAG was not got to work",
        },
        take_it_when=_take_it_when,
        leave_it_when=_leave_it_when,
        encapsulation=lambda _: (Encapsulation.VLAN, 4),
        no_path="not measured: the card moves the frames and no core has a part in it, so there is "
        "none to load here. Between two ports of your card: wirespeed measure rfc2544 --port",
    ),
    is_exported=True,
)
