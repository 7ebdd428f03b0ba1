"""Open vSwitch with the kernel's datapath, and tunnels between the hosts.

A bond of both ports carries the underlay: fail-over is the host's, and guests know nothing of it.
Each network has a bridge; a guest's port and the tunnels to the other hosts join it. A tenant sees
frames of its own networks only, as each tunnel has the network's segment as its key.

Here, cards without an embedded switch: guests are joined by pairs of virtual ports, and the host's
cores do all the forwarding. With one, it is `ovs_switchdev`.
"""

from collections.abc import Iterator

from wirespeed.approaches.guest_network import guest_networks, steps_in_guest
from wirespeed.approaches.overlay import bridge_of, guest_port_of
from wirespeed.approaches.ovs_parts import (
    OVERLAY_FEATURES,
    OWNER,
    bridges,
    too_small_a_network,
    tunnel_of,
    underlay_steps,
)
from wirespeed.approaches.ovs_switchdev import has_embedded_switch, ovs_switchdev
from wirespeed.approaches.traits import (
    ApproachTraits,
    Between,
    Compared,
    Feature,
    Proven,
    RequestedStep,
)
from wirespeed.facts.distribution import distribution_of
from wirespeed.facts.ovs import Ovs
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, Known
from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.spec.guests import GuestKind
from wirespeed.model.spec.members import OvsTc
from wirespeed.steps.in_namespace import InNamespace
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.namespace import Namespace
from wirespeed.steps.ovs_port import OvsPort
from wirespeed.steps.veth import Veth

WAITS = "flow-restore-wait"


def ovs_tc(spec: GuestNetworks, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the steps of the host `name`. Raises InputError `spec.*` where it cannot be."""
    require_switch(host, name)
    if has_embedded_switch(spec, name, host):
        yield from ovs_switchdev(spec, name, host)
        return
    yield from underlay_steps(spec, name, host)
    yield from bridges(spec, name)
    for guest, wanted in spec.guests.items():
        if wanted.host == name and wanted.kind is not GuestKind.NONE:
            yield from veth_guest_steps(spec, guest)


def veth_guest_steps(spec: GuestNetworks, guest: str) -> Iterator[RequestedStep]:
    """Give a guest that is a namespace, joined to its bridges by pairs of virtual ports.

    Raises InputError `spec.guest_kind` for any other.
    """
    if spec.guests[guest].kind is not GuestKind.NAMESPACE:
        raise InputError(
            "spec.guest_kind",
            where=guest,
            found=f"kind {spec.guests[guest].kind} with {spec.approach}",
            so="this card has no embedded switch that could give it a VF behind Open vSwitch",
            next=f"set kind: {GuestKind.NAMESPACE}, or approach: legacy-vlan",
        )
    yield RequestedStep(Namespace(namespace=guest))
    yield RequestedStep(InNamespace.of(guest, LinkUp(netdev="lo")), is_made=True)
    for number, of in enumerate(guest_networks(spec, guest)):
        outside = guest_port_of(guest, of.network, number)
        pair = Veth(netdev=outside, namespace=guest, inside=of.netdev, mac=of.mac)
        yield RequestedStep(pair, is_made=True)
        yield RequestedStep(Mtu(netdev=outside, mtu=of.mtu), is_made=True)
        yield RequestedStep(LinkUp(netdev=outside), is_made=True)
        bridge = bridge_of(of.network)
        port = OvsPort(bridge=bridge, netdev=outside, interface_type="system", owner=OWNER)
        yield RequestedStep(port)
        for step in steps_in_guest(spec, guest, of, is_deaf=False):
            yield RequestedStep(InNamespace.of(guest, step), is_made=True)


def require_switch(host: HostFacts, name: str, package: str = "") -> None:
    """Raise InputError `spec.no_ovs`, `spec.ovs_waits` if no Open vSwitch accepts commands."""
    where = distribution_of(host)
    package = package or where.switch
    start = f"systemctl start {where.switch}"
    found, daemon = host[Ovs].other_config, host[Ovs].has_daemon
    if isinstance(daemon, Known) and isinstance(found, Known) and not daemon.value:
        raise InputError(
            "spec.no_ovs",
            where=name,
            found=f"its database runs, but ovs-vswitchd does not ({daemon.source})",
            so="the database would accept the settings, and no daemon would apply them",
            next=f"run `systemctl restart {where.switch}`; the log in /var/log/openvswitch says "
            "why it died",
        )
    if isinstance(found, Known):
        if host[Ovs].setting(WAITS) == "true":
            raise InputError(
                "spec.ovs_waits",
                where=name,
                found=f"Open vSwitch has {WAITS}=true, which an interrupted restart leaves behind",
                so="its daemon sets up no new flows: no guest could reach another",
                next="see `wirespeed doctor --explain ovs.waits_for_flows`",
            )
        return
    raise InputError(
        "spec.no_ovs",
        where=name,
        found=found.reason,
        so="there is no switch to connect the guests to",
        next=(
            f"{where.install} {package}, or {start}"
            if isinstance(found, Absent)
            else "ovs-vsctl show"
        ),
    )


APPROACH = ApproachTraits(
    OvsTc,
    ovs_tc,
    Proven(Between.GUESTS, has_tunnel_netdev=True),
    Compared(
        simplicity=2,
        place=3,
        features={
            **OVERLAY_FEATURES,
            Feature.MOVES_FRAMES: "the kernel; a card in switchdev mode takes the flows",
            Feature.FILTERS: "OpenFlow; what tc flower cannot say stays in software",
            Feature.PROGRAMS: "Open vSwitch",
            Feature.DAEMON_STOPS: "flows that are there go on; new ones find no way",
            Feature.OTHER_PORTS: "not planned: a guest has a VF, or a pair of virtual ports",
            Feature.DRIVER: "the vendor's (DOCA); with Debian's own nothing was offloaded",
        },
        take_it_when=lambda _: (
            "hosts are joined by an IP network that need know nothing of tenants, guests shall "
            "not care for fail-over, and the card has a switch that takes the flows; without "
            "one, cores of the host do the work"
        ),
        leave_it_when=lambda spec: (
            f"{too_small_a_network(spec)}, or the driver at hand offloads nothing and the host has "
            "no cores to spare"
        ),
        encapsulation=tunnel_of,
        # In the kernel's path a bridge's lookup is in the place of Open vSwitch's.
        software_paths=("kernel-vxlan", "kernel-bridge"),
    ),
)
