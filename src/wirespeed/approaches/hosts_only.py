"""No guests: the ports of hosts themselves, set up, tuned and measured from host to host.

On each port, in this order: rings and channels, for which drivers take the link down; pause; the
MTU; the link; with `underlay: {vlan: N}` the netdev of that VLAN; the host's address in the network
between the ports.
"""

from collections.abc import Iterator
from ipaddress import IPv4Interface

from wirespeed.approaches.host_ports import mtu_steps, netdev_of
from wirespeed.approaches.overlay import MAX_NAME
from wirespeed.approaches.traits import ApproachTraits, Between, Proven, RequestedStep
from wirespeed.facts.queues import Queues
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import known
from wirespeed.model.spec.members import HostsOnly
from wirespeed.model.spec.settings import TuningSpec
from wirespeed.model.step import Step
from wirespeed.steps.address import Address
from wirespeed.steps.channels import Channels
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.pause import Pause
from wirespeed.steps.rings import Rings
from wirespeed.steps.vlan import Vlan


def hosts_only(spec: HostsOnly, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the steps of the host `name`.

    Raises InputError `spec.*` where the host has no such port, and CannotTellError where a ring's
    largest size is asked for and cannot be read.
    """
    for address in spec.hosts[name].ports:
        netdev = netdev_of(host, name, address)
        yield from map(RequestedStep, _tuning(spec.tuning, host, netdev))
        if spec.underlay is not None:
            with_above = list(mtu_steps(host, netdev, spec.underlay.mtu))
            yield from with_above
            yield RequestedStep(LinkUp(netdev=netdev))
            if spec.underlay.vlan is not None:
                above = network_netdev(spec, netdev)
                yield RequestedStep(Vlan(netdev=above, lower=netdev, vlan=spec.underlay.vlan))
                # One that was there before may have another than its port.
                own = Mtu(netdev=above, mtu=spec.underlay.mtu)
                if RequestedStep(own) not in with_above:
                    yield RequestedStep(own, is_made=True)
            of_host = Address(netdev=network_netdev(spec, netdev), address=port_address(spec, name))
            yield RequestedStep(of_host, is_made=spec.underlay.vlan is not None)


def network_netdev(spec: HostsOnly, netdev: str) -> str:
    """Give what has the address of a port: its netdev, or that of the VLAN on it."""
    if spec.underlay is None or spec.underlay.vlan is None:
        return netdev
    name = f"{netdev}.{spec.underlay.vlan}"
    return name if len(name) <= MAX_NAME else f"vlan{spec.underlay.vlan}"


def port_address(spec: HostsOnly, host: str) -> IPv4Interface:
    """Give a host's address in the network between the ports: its place in the spec, from 1."""
    if spec.underlay is None:
        raise AssertionError("the spec wants no network")
    subnet = spec.underlay.subnet
    place = list(spec.hosts).index(host) + 1
    return IPv4Interface((subnet.network_address + place, subnet.prefixlen))


def _tuning(wanted: TuningSpec, host: HostFacts, netdev: str) -> Iterator[Step]:
    queues = host[Queues].of(netdev)
    if wanted.channels is not None:
        yield Channels(netdev=netdev, combined=wanted.channels)
    if wanted.rings is not None:
        yield Rings(
            netdev=netdev,
            rx=known(queues.rx_ring_descriptors_max, f"the largest receive ring of {netdev}"),
            tx=known(queues.tx_ring_descriptors_max, f"the largest transmit ring of {netdev}"),
        )
    if wanted.pause is not None:
        yield Pause(netdev=netdev, autoneg=False, rx=wanted.pause, tx=wanted.pause)


APPROACH = ApproachTraits(
    HostsOnly,
    hosts_only,
    Proven(Between.HOSTS, no_switch="frames of a host's own port pass no switch of the host"),
    is_exported=True,
)
