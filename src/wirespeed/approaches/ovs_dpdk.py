"""Open vSwitch in userspace: DPDK drives the card, and a core that polls does the forwarding.

With a card that DPDK drives beside the kernel (bifurcated: mlx5), the order is: hugepages; the
switch told what it may take (allow-list with representors), where it polls and what it reserves;
the build with DPDK chosen; the card in switchdev mode, the kernel's bond for fail-over (VF-LAG),
VFs; DPDK on, which restarts the switch; the underlay's bridge with the port and the host's address;
the networks' bridges with their tunnels and the representors of the guests' VFs.

With any other card nothing needs DPDK: the userspace datapath takes the kernel's netdevs by
AF_PACKET, bond and pairs of virtual ports alike. It is slow, and it is the same switch. Or, with
`driver: vfio-pci` in the underlay, the whole port leaves the kernel for DPDK; guests are joined by
pairs of virtual ports all the same, and those that somebody else starts by vhost-user.

The restart of the switch stands before the choice of its build and after it: so undo, which goes
backwards, ends with the former build running too.

Not proven on hardware. On virtual hosts with `igb`: both ways without an embedded switch.
"""

from collections.abc import Iterator

from wirespeed.approaches.distribution import (
    require_dpdk,
    require_own_dpdk,
    require_raw_io,
    switch_unit,
)
from wirespeed.approaches.host_ports import (
    netdev_of,
    port_of,
    require_iommu,
    whole_port_of,
)
from wirespeed.approaches.legacy_vlan_vm import Taken, virtual_machines
from wirespeed.approaches.overlay import bridge_of, guest_port_of, underlay_address
from wirespeed.approaches.ovs_parts import (
    OVERLAY_FEATURES,
    OWNER,
    PHYSICAL,
    UNDERLAY,
    bridges,
    restart_reason,
    too_small_a_network,
    tunnel_of,
    underlay_steps,
)
from wirespeed.approaches.ovs_switchdev import (
    has_embedded_switch,
    switchdev_ports,
    switched_vfs,
    vf_namespaces,
)
from wirespeed.approaches.ovs_tc import require_switch, veth_guest_steps
from wirespeed.approaches.polling import polling_cpus, receive_queues, with_siblings
from wirespeed.approaches.traits import (
    ApproachTraits,
    Between,
    Compared,
    Feature,
    Proven,
    RequestedStep,
)
from wirespeed.approaches.vf_ports import firmware_steps, vf_shares
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.distribution import distribution_of
from wirespeed.facts.locality import node_of_port
from wirespeed.facts.ovs import Ovs
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import known, value_or_none
from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.spec.guests import VIRTUAL_MACHINES, GuestKind
from wirespeed.model.spec.members import OvsDpdk
from wirespeed.model.spec.networks import UnderlayDriver
from wirespeed.steps.address import Address
from wirespeed.steps.address_generation import AddressGeneration
from wirespeed.steps.alternative import Alternative
from wirespeed.steps.dpdk_port import DpdkPort
from wirespeed.steps.hugepages import Hugepages
from wirespeed.steps.in_namespace import InNamespace
from wirespeed.steps.ingress_drop import IngressDrop
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.module import Module
from wirespeed.steps.offloads import Offloads
from wirespeed.steps.ovs_bridge import OvsBridge
from wirespeed.steps.ovs_config import OvsConfig
from wirespeed.steps.ovs_port import OvsPort
from wirespeed.steps.veth import Veth

CHECKSUM_OFF = {"tx-checksum-ip-generic": False}
PORT = "phy-p0"
DAEMON = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
PACKAGE = "openvswitch-switch-dpdk"
SOCKETS = "/run/openvswitch"
"""Of vhost-user, each called as its port is."""
PAGE_KIB = 2048
PAGES = 1024
RESERVED_MIB = 1024
"""On the card's node, at the start; the rest of the pages as ports need them."""
ONE_WAY = (
    "Of a tunnel the card packs what goes out; what comes in, Open vSwitch unpacks on that core, "
    "save in a build with DPDK's experimental API, which no distribution's package is"
)
"""Open vSwitch, lib/netdev-dpdk.c: rte_flow_tunnel_* is within #ifdef ALLOW_EXPERIMENTAL_API."""
ALLOW_SINCE, PF_SINCE = (20, 11), (21, 5)
"""DPDK with `-a`, which was `-w`; with `pf0vf[0-3]` in `representor=`, which was `[0-3]`."""
ACCELERATION = "dv_flow_en=1,dv_xmeta_en=1,dv_esw_en=1"
"""Of DPDK's mlx5: flows by Direct Verbs, metadata between tables, rules of the embedded switch."""


def ovs_dpdk(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the steps of the host `name`.

    Raises InputError `spec.*`, and CannotTellError where what a step would follow is not known.
    """
    require_switch(host, name, distribution_of(host).switch_with_dpdk)
    reason = "bridges in userspace have their own ports by it; loaded by that, it would stay"
    yield RequestedStep(Module(name="tun", reason=reason))
    if not has_embedded_switch(spec, name, host):
        is_dpdk = spec.underlay.driver is UnderlayDriver.VFIO_PCI
        yield from (_whole_port if is_dpdk else _underlay)(spec, name, host)
        yield from bridges(spec, name, "netdev")
        if is_dpdk:
            yield from _vhost_user_ports(spec, name)
        yield from _veth_guests(spec, name)
        return
    require_raw_io(host, name)
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
    yield from map(RequestedStep, _memory_and_cores(spec, name, host))
    allowed = f"{_allowed(spec, name, host)},{ACCELERATION}"
    yield from map(RequestedStep, _build(spec, host, name, allowed))
    # After the restart: so undo takes it away before, and what runs then knows nothing of it.
    yield RequestedStep(
        OvsConfig(
            key="hw-offload",
            value="true",
            reason=f"The card applies flows that it can, not the core that polls. {ONE_WAY}.",
        )
    )
    for wanted in switchdev_ports(spec, name, host):
        # Filters of tc are not what offloads here.
        if not isinstance(wanted.step, Offloads):
            yield wanted
    yield from _bifurcated(spec, name, host)
    yield from bridges(spec, name, "netdev")
    yield from _representors(spec, name)
    yield from vf_namespaces(spec, name, host)
    if any(spec.guests[guest].kind in VIRTUAL_MACHINES for guest, _ in shares):
        # The switch has its pages and CPUs by then, and counts on them.
        taken = Taken({PAGE_KIB: PAGES}, with_siblings(host, polling_cpus(spec, name, host)))
        yield from virtual_machines(spec, name, host, taken)


def _memory_and_cores(
    spec: GuestNetworks, name: str, host: HostFacts
) -> Iterator[Hugepages | OvsConfig]:
    """Give hugepages near the card, and a core there that polls."""
    require_own_dpdk(host, name, spec.hosts[name].ports)
    port = port_of(host, name, spec.hosts[name].ports[0])
    node = value_or_none(node_of_port(host, port))
    yield Hugepages(page_kib=PAGE_KIB, numa_node=node, count=PAGES)
    nodes = sorted(known(host[Cpus].nodes, f"NUMA nodes of {name}"))
    reserved = [str(RESERVED_MIB if node in (None, one) else 0) for one in nodes]
    yield OvsConfig(
        key="dpdk-socket-mem",
        value=",".join(reserved if node is not None else reserved[:1]),
        reason="Memory near the card, taken at the start: a shortage is then seen at once.",
    )
    polling = polling_cpus(spec, name, host)
    said = ", ".join(map(str, sorted(polling)))
    reason = f"CPU {said}, near the card, polls for frames and does nothing else."
    if len(polling) > 1 or spec.hosts[name].polling:
        reason = f"These CPUs poll for frames and do nothing else: {said}."
    yield OvsConfig(key="pmd-cpu-mask", value=hex(sum(1 << cpu for cpu in polling)), reason=reason)


def _build(
    spec: GuestNetworks, host: HostFacts, name: str, allowed: str
) -> Iterator[OvsConfig | Alternative]:
    """Give what DPDK may take, with a restart that undo ends with, and the build that has it.

    Where the distribution has one build alone, there is none to choose.
    """
    reason = "Of all cards, DPDK takes this one alone, with its VFs' representors if it has any."
    yield OvsConfig(
        key="dpdk-extra",
        value=f"{'-w' if _is_before(host, ALLOW_SINCE) else '-a'} {allowed}",
        restart="systemd",
        unit=switch_unit(host, name),
        reason=restart_reason(spec, host, reason),
    )
    if switch_unit(host, name) == "openvswitch.service":
        require_dpdk(host, name)
        return
    yield Alternative(program=DAEMON, package=PACKAGE)


def _is_before(host: HostFacts, release: tuple[int, int]) -> bool:
    """Tell whether the switch's DPDK is older; one that is not known is not."""
    found = host[Ovs].dpdk_release
    return found is not None and found < release


def _allowed(spec: GuestNetworks, name: str, host: HostFacts) -> str:
    """Give the port that DPDK probes, with the representors behind it.

    With VF-LAG, both ports are one to DPDK, and `pf[0,1]` names both.
    """
    address = spec.hosts[name].ports[0]
    shares = vf_shares(spec, name)
    if not shares:
        return address
    if _is_before(host, PF_SINCE):
        return f"{address},representor=[0-{len(shares) - 1}]"
    vfs = f"vf[0-{len(shares) - 1}]"
    ports = "pf[0,1]" if spec.has_bonds else "pf0"
    return f"{address},representor={ports}{vfs}"


def _underlay(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the underlay's bridge over the kernel's bond or port."""
    yield from _without_address(spec, name, host)
    yield RequestedStep(OvsBridge(bridge=PHYSICAL, datapath_type="netdev", owner=OWNER))
    carrier = UNDERLAY if spec.has_bonds else netdev_of(host, name, spec.hosts[name].ports[0])
    yield RequestedStep(IngressDrop(netdev=carrier), spec.has_bonds)
    port = OvsPort(bridge=PHYSICAL, netdev=carrier, interface_type="system", owner=OWNER)
    yield RequestedStep(port, is_made=True)
    yield from _host_in_underlay(spec, name)


def _bifurcated(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the underlay's bridge over a port that DPDK drives beside the kernel."""
    yield from _without_address(spec, name, host)
    if vf_shares(spec, name):
        yield from switched_vfs(spec, name, host)
    yield from _dpdk_underlay(spec, name, host)


def _whole_port(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the underlay's bridge over a port that DPDK alone drives.

    Raises InputError `spec.failover`: the kernel's bond has no such port; `spec.port_driver`,
    `spec.no_iommu`.
    """
    if spec.has_bonds:
        raise InputError(
            "spec.failover",
            where=name,
            found=f"failover: {spec.failover} with driver: {spec.underlay.driver}",
            so="the kernel cannot bond ports that DPDK drives",
            next="set failover: none, or driver: kernel",
        )
    address = spec.hosts[name].ports[0]
    netdev = whole_port_of(host, name, address).netdev
    require_iommu(name, host)
    yield from map(RequestedStep, _memory_and_cores(spec, name, host))
    yield from map(RequestedStep, _build(spec, host, name, address))
    yield RequestedStep(Module(name="vfio-pci", reason="hands the port to DPDK, behind the IOMMU"))
    # It comes with vfio-pci, and modprobe -r of that does not take it away.
    yield RequestedStep(Module(name="vfio_iommu_type1", reason="maps DPDK's memory for the port"))
    yield RequestedStep(DpdkPort(pci_address=address, netdev=netdev))
    yield from _dpdk_underlay(spec, name, host)


def _without_address(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give bond or port; for its address the switch answers, which finds its tunnels' way by it."""
    yield from (w for w in underlay_steps(spec, name, host) if not isinstance(w.step, Address))


def _dpdk_underlay(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give DPDK, which starts with the switch once all of the card is ready, and its port."""
    reason = "DPDK starts with the switch, once the card is as DPDK shall find it."
    unit = switch_unit(host, name)
    start = OvsConfig(key="dpdk-init", value="true", restart="systemd", unit=unit, reason=reason)
    yield RequestedStep(start)
    yield RequestedStep(OvsBridge(bridge=PHYSICAL, datapath_type="netdev", owner=OWNER))
    port = OvsPort(
        bridge=PHYSICAL,
        netdev=PORT,
        interface_type="dpdk",
        options={
            "dpdk-devargs": spec.hosts[name].ports[0],
            "dpdk-lsc-interrupt": "true",
            **receive_queues(spec, name),
        },
        mtu_request=spec.underlay.mtu,
        owner=OWNER,
    )
    yield RequestedStep(port, is_made=True)
    yield from _host_in_underlay(spec, name)


def _host_in_underlay(spec: GuestNetworks, name: str) -> Iterator[RequestedStep]:
    yield RequestedStep(LinkUp(netdev=PHYSICAL), is_made=True)
    yield RequestedStep(
        Address(netdev=PHYSICAL, address=underlay_address(spec, name)), is_made=True
    )


def _representors(spec: GuestNetworks, name: str) -> Iterator[RequestedStep]:
    """Give each VF's representor its place in the network's bridge."""
    address = spec.hosts[name].ports[0]
    for vf, (guest, network) in enumerate(vf_shares(spec, name)):
        number = spec.guests[guest].networks.index(network)
        port = OvsPort(
            bridge=bridge_of(network),
            netdev=guest_port_of(guest, network, number),
            interface_type="dpdk",
            options={"dpdk-devargs": f"{address},representor=[{vf}]"},
            mtu_request=spec.networks[network].mtu,
            owner=OWNER,
        )
        yield RequestedStep(port, is_made=True)


def _vhost_user_ports(spec: GuestNetworks, name: str) -> Iterator[RequestedStep]:
    """Give the ports of guests that somebody else starts: QEMU serves the socket, and may restart.

    The switch comes back to the socket by itself, so that nobody has to be there first.
    """
    for guest, wanted in spec.guests.items():
        if wanted.host != name or wanted.kind is not GuestKind.NONE:
            continue
        for number, network in enumerate(wanted.networks):
            netdev = guest_port_of(guest, network, number)
            port = OvsPort(
                bridge=bridge_of(network),
                netdev=netdev,
                interface_type="dpdkvhostuserclient",
                options={"vhost-server-path": f"{SOCKETS}/{netdev}"},
                mtu_request=spec.networks[network].mtu,
                owner=OWNER,
            )
            yield RequestedStep(port, is_made=True)


def _veth_guests(spec: GuestNetworks, name: str) -> Iterator[RequestedStep]:
    """Give guests that are namespaces, each of whose frames has its checksum.

    One that is left to the card would be nobody's: the switch sends frames as it gets them. The
    host's end of each pair is the switch's alone: without an address, and deaf to the kernel.
    """
    for guest, wanted in spec.guests.items():
        if wanted.host != name or wanted.kind is GuestKind.NONE:
            continue
        for one in veth_guest_steps(spec, guest):
            yield one
            if isinstance(one.step, Veth):
                summed = Offloads(netdev=one.step.inside, features=CHECKSUM_OFF)
                yield RequestedStep(InNamespace.of(guest, summed), is_made=True)
                yield RequestedStep(AddressGeneration(netdev=one.step.netdev), is_made=True)
                yield RequestedStep(IngressDrop(netdev=one.step.netdev), is_made=True)


APPROACH = ApproachTraits(
    OvsDpdk,
    ovs_dpdk,
    Proven(Between.GUESTS, partly_offloaded=ONE_WAY),
    Compared(
        simplicity=3,
        place=2,
        features={
            **OVERLAY_FEATURES,
            Feature.MOVES_FRAMES: "cores that poll, all of the time; a card that offloads takes "
            "flows",
            Feature.FILTERS: "OpenFlow",
            Feature.PROGRAMS: "Open vSwitch with DPDK, hugepages",
            Feature.DAEMON_STOPS: "all traffic stops with it",
            Feature.OTHER_PORTS: "not planned: a guest has a VF, virtual ports, or vhost-user",
            Feature.DRIVER: "the vendor's (DOCA); with Debian's own a VF did not fail over",
        },
        take_it_when=lambda _: (
            "guests speak vhost-user, or small frames matter and the card takes no flows, and "
            "a core on each host may poll all of the time"
        ),
        leave_it_when=lambda spec: (
            f"{too_small_a_network(spec)}, or {len(spec.hosts)} cores that are busy at rest are "
            "too many"
        ),
        encapsulation=tunnel_of,
        software_paths=("ovs-dpdk-vxlan", "ovs-dpdk"),
    ),
)
