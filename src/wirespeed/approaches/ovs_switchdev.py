"""Open vSwitch over a card with an embedded switch: flows are offloaded to it through tc.

The first port has the VFs; each has a representor, which is the guest's port of the bridge. The
card's own bond of both ports (VF-LAG) carries a VF over either of them.

In this order, each step for a reason: VFs away (the mode cannot change while one is bound); rules
written by the driver (which cannot be set later); the mode, with channels and rings as they were
(the change drops them, and so does undo's); hw-tc-offload; the bond, its MTU and address; VF-LAG
active, and only then VFs (those made sooner stay with their port); Open vSwitch told to offload and
restarted; bridges and tunnels; representors by the kernel's port names.

Proven on the driver, against a model (docs/mlx5-model.md), offload on Linux 6.1; not proven on
hardware.
"""

from collections.abc import Iterator

from wirespeed.approaches.distribution import switch_unit
from wirespeed.approaches.guest_network import guest_mac, guest_networks, steps_in_guest
from wirespeed.approaches.host_ports import netdev_of, port_of
from wirespeed.approaches.legacy_vlan_vm import virtual_machines
from wirespeed.approaches.overlay import bridge_of, guest_port_of
from wirespeed.approaches.ovs_parts import OWNER, bridges, restart_reason, underlay_steps
from wirespeed.approaches.support import require_host_managed, require_one_card
from wirespeed.approaches.traits import RequestedStep
from wirespeed.approaches.vf_ports import (
    firmware_steps,
    pf_with_room,
    unmanaged_vfs,
    unprobed,
    vf_address,
    vf_shares,
)
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.eswitch import Eswitch
from wirespeed.facts.firmware_driver import DriverOrigin
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.queues import Queues
from wirespeed.facts.sriov import Sriov
from wirespeed.facts.steering_mode import SteeringMode as SteeringModes
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, Known, Observed, value_or_none
from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.spec.guests import VIRTUAL_MACHINES, GuestKind
from wirespeed.steps.channels import Channels
from wirespeed.steps.driver_override import DriverOverride
from wirespeed.steps.eswitch_mode import EswitchMode
from wirespeed.steps.in_namespace import InNamespace
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.module import Module
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.namespace import Namespace
from wirespeed.steps.offloads import Offloads
from wirespeed.steps.ovs_config import OvsConfig
from wirespeed.steps.ovs_port import OvsPort
from wirespeed.steps.representor_name import RepresentorName
from wirespeed.steps.steering_mode import SteeringMode
from wirespeed.steps.vf_count import VfCount
from wirespeed.steps.vf_in_namespace import VfInNamespace
from wirespeed.steps.vf_mac import VfMac
from wirespeed.steps.vf_settings import VfSettings

DRIVERS = ("mlx5_core",)
"""Whose embedded switch joins both ports to one, and says so in debugfs."""


FIRMWARE_STEERED = (0x1013, 0x1015)
"""ConnectX-4 and 4 Lx: the driver cannot write their rules (mlx5dr_is_supported)."""
DRIVER_STEERED_SINCE = {
    0x101D: (5, 12),
    0x101F: (5, 12),
    0xA2D6: (5, 12),
    0x1021: (5, 18),
    0xA2DC: (5, 18),
    0x1023: (6, 14),
}
"""Linux whose own driver can write the rules of ConnectX-6 Dx, 6 Lx, 7, 8 and of BlueFields with
these (kernel commits 64f45c0fc4c7, 6862c787c7e8, 4d617b57574f). An earlier one refuses smfs, unless
a distribution took that in: then it starts with smfs."""
LAG_STATE_SINCE = (5, 19)
"""mlx5's `lag/state` in debugfs: kernel commit 7f46a0b7327a."""
SOFTWARE_OR_FIRMWARE = ("smfs", "dmfs")


def has_embedded_switch(spec: GuestNetworks, name: str, host: HostFacts) -> bool:
    """Tell whether every port that the spec names has one that this approach knows."""
    return all(
        port_of(host, name, address).driver in DRIVERS and _mode(host, address) is not None
        for address in spec.hosts[name].ports
    )


def ovs_switchdev(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the steps of the host `name`.

    Raises InputError `spec.*`, and CannotTellError where what a step would follow is not known.
    """
    shares = vf_shares(spec, name)
    firmware = list(firmware_steps(spec, name, host)) if shares else []
    yield from map(RequestedStep, firmware)
    if firmware:
        # Where its VFs will be, a reading after the boot says.
        return
    if any(spec.guests[guest].kind is not GuestKind.NAMESPACE for guest, _ in shares):
        yield RequestedStep(
            Module(name="vfio-pci", reason="hands a VF to a guest, behind the IOMMU")
        )
    yield from switchdev_ports(spec, name, host)
    yield from underlay_steps(spec, name, host)
    if shares:
        yield from switched_vfs(spec, name, host)
    reason = "Flows go to the card as tc filters; the daemon reads it only as it starts."
    reason = restart_reason(spec, host, reason)
    unit = switch_unit(host, name)
    offload = OvsConfig(key="hw-offload", value="true", restart="systemd", unit=unit, reason=reason)
    yield RequestedStep(offload)
    yield from bridges(spec, name)
    yield from _representors(spec, name)
    yield from vf_namespaces(spec, name, host)
    if any(spec.guests[guest].kind in VIRTUAL_MACHINES for guest, _ in shares):
        yield from virtual_machines(spec, name, host)


def _mode(host: HostFacts, address: str) -> str | None:
    pf = host[Eswitch].pfs.get(address)
    return pf.mode.value if pf is not None and isinstance(pf.mode, Known) else None


def switchdev_ports(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the ports in switchdev mode, with their channels, ready for filters.

    Raises InputError `spec.card_managed`, `spec.two_cards`.
    """
    require_host_managed(spec, name, host)
    require_one_card(spec, name)
    ports = {address: netdev_of(host, name, address) for address in spec.hosts[name].ports}
    is_new = {address: _mode(host, address) != "switchdev" for address in ports}
    for address in ports:
        if is_new[address]:
            yield RequestedStep(VfCount(pci_address=address, num_vfs=0))
    for address, netdev in ports.items():
        if is_new[address] and spec.steering == "driver":
            yield from map(RequestedStep, _steering(host, address, netdev))
    for address, netdev in ports.items():
        queues = host[Queues].of(netdev)
        yield RequestedStep(
            EswitchMode(
                pci_address=address,
                mode="switchdev",
                netdev=netdev,
                combined=value_or_none(queues.combined_channels) or None,
                rx=value_or_none(queues.rx_ring_descriptors) or None,
                tx=value_or_none(queues.tx_ring_descriptors) or None,
            )
        )
    for address, netdev in ports.items():
        count = _channels(host, netdev, is_new=is_new[address])
        if count is not None:
            yield RequestedStep(Channels(netdev=netdev, combined=count))
        yield RequestedStep(Offloads(netdev=netdev, features={"hw-tc-offload": True}))


def _steering(host: HostFacts, address: str, netdev: str) -> Iterator[SteeringMode]:
    """Give what lets the driver write the rules, in the words of this driver; else nothing.

    Nothing: the card cannot do it, or the driver cannot do it with this card, or the rules are
    managed by hardware (hmfs), where smfs is refused.
    """
    device = host[Sriov].pfs[address].device if address in host[Sriov].pfs else None
    if isinstance(device, Known) and device.value in FIRMWARE_STEERED:
        return
    modes = host[SteeringModes]
    by_file = modes.by_file.get(netdev)
    by_devlink = modes.by_devlink.get(address)
    if isinstance(by_devlink, Absent) and not isinstance(by_file, Known):
        return
    is_by_file = isinstance(by_file, Known) and not isinstance(by_devlink, Known)
    now = by_file if is_by_file else by_devlink
    if isinstance(now, Known) and now.value not in SOFTWARE_OR_FIRMWARE:
        return
    if isinstance(now, Known) and now.value == "dmfs" and _is_before_its_card(host, device):
        return
    yield SteeringMode(pci_address=address, mode="smfs", netdev=netdev if is_by_file else None)


def _is_before_its_card(host: HostFacts, device: Observed[int] | None) -> bool:
    """Tell whether the kernel's own driver is too old to write this card's rules."""
    if not isinstance(device, Known) or not host[DriverOrigin].is_of_kernel:
        return False
    release = value_or_none(host[Kernel].version())
    return release is not None and release < DRIVER_STEERED_SINCE.get(device.value, (0, 0))


def _channels(host: HostFacts, netdev: str, *, is_new: bool) -> int | None:
    """Give the channels that it has, or had before the change of mode left one; None: not known."""
    queues, cpus = host[Queues].of(netdev), host[Cpus].online
    now, most = queues.combined_channels, queues.combined_channels_max
    if not isinstance(now, Known) or not now.value:
        return None
    if is_new or now.value > 1:
        return now.value
    if isinstance(most, Known) and isinstance(cpus, Known):
        return max(1, min(most.value, len(cpus.value)))
    return None


def is_lag_shown(host: HostFacts, address: str) -> bool:
    """Tell whether the driver says if VF-LAG is active: not before Linux 5.19, save a vendor's."""
    pf = host[Eswitch].pfs.get(address)
    release = host[Kernel].version()
    is_early = isinstance(release, Known) and release.value < LAG_STATE_SINCE
    return not (is_early and pf is not None and isinstance(pf.lag_state, Absent))


def switched_vfs(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the VFs of the first port, once it is of a bond that the card knows."""
    address = spec.hosts[name].ports[0]
    shares = vf_shares(spec, name)
    pf = pf_with_room(spec, name, host, address)
    count = VfCount(
        pci_address=address,
        num_vfs=len(shares),
        lag_of=address if spec.has_bonds else None,
        is_lag_shown=is_lag_shown(host, address),
        has_representors=True,
    )
    yield from map(RequestedStep, unmanaged_vfs(spec, name, host, pf))
    yield from map(RequestedStep, unprobed(spec, name, host, address))
    yield RequestedStep(count)
    port = netdev_of(host, name, address)
    for vf, (guest, network) in enumerate(shares):
        # Without one, its driver draws its own.
        mac = guest_mac(guest, network)
        yield RequestedStep(VfSettings(netdev=port, vf=vf, mac=mac), is_made=True)
        if spec.guests[guest].kind is not GuestKind.NAMESPACE:
            yield RequestedStep(DriverOverride(pci_address=vf_address(pf, vf)), is_made=True)


def _representors(spec: GuestNetworks, name: str) -> Iterator[RequestedStep]:
    """Give each VF's representor its name, its MTU, and its place in the network's bridge."""
    address = spec.hosts[name].ports[0]
    for vf, (guest, network) in enumerate(vf_shares(spec, name)):
        number = spec.guests[guest].networks.index(network)
        netdev = guest_port_of(guest, network, number)
        named = RepresentorName(pci_address=address, vf=vf, netdev=netdev)
        yield RequestedStep(named, is_made=True)
        yield RequestedStep(Mtu(netdev=netdev, mtu=spec.networks[network].mtu), is_made=True)
        yield RequestedStep(LinkUp(netdev=netdev), is_made=True)
        bridge = bridge_of(network)
        port = OvsPort(bridge=bridge, netdev=netdev, interface_type="system", owner=OWNER)
        yield RequestedStep(port)


def vf_namespaces(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give all guests of a host that are namespaces: each VF's netdev moves into its guest's."""
    address = spec.hosts[name].ports[0]
    shares = vf_shares(spec, name)
    for guest in dict.fromkeys(guest for guest, _ in shares):
        if spec.guests[guest].kind is not GuestKind.NAMESPACE:
            continue
        yield RequestedStep(Namespace(namespace=guest))
        yield RequestedStep(InNamespace.of(guest, LinkUp(netdev="lo")), is_made=True)
        for of in guest_networks(spec, guest):
            vf = shares.index((guest, of.network))
            at = vf_address(pf_with_room(spec, name, host, address), vf)
            yield RequestedStep(VfMac(pci_address=at, mac=of.mac, namespace=guest), is_made=True)
            into = VfInNamespace(pci_address=at, namespace=guest, netdev=of.netdev)
            yield RequestedStep(into, is_made=True)
            for step in steps_in_guest(spec, guest, of, is_deaf=False):
                yield RequestedStep(InNamespace.of(guest, step), is_made=True)
