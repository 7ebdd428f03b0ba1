"""What a proof measures between the guests of a spec."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import permutations

from wirespeed.apply.guard import carriers
from wirespeed.approaches.host_ports import netdev_of
from wirespeed.approaches.overlay import PORTS, guest_port_of, underlay_address
from wirespeed.approaches.ovs_parts import UNDERLAY
from wirespeed.approaches.ovs_switchdev import has_embedded_switch
from wirespeed.catalog import approaches
from wirespeed.host.runner import Runner
from wirespeed.measure.network.endpoint import Endpoint
from wirespeed.measure.network.endpoints import endpoints_of
from wirespeed.measure.network.failover import HostBond, failovers
from wirespeed.measure.network.forged_outer import HostEnd
from wirespeed.measure.network.host_cpu import idle_hosts
from wirespeed.measure.network.iperf3 import iperf3_matrix
from wirespeed.measure.network.isolation import isolation
from wirespeed.measure.network.offload_trial import OffloadPlace, offloads
from wirespeed.measure.network.ping import flood_pings
from wirespeed.measure.network.port_switch import PortSwitch, port_set_down
from wirespeed.model.error import MeasurementError
from wirespeed.model.fact import HostFacts
from wirespeed.model.json_value import read_json
from wirespeed.model.network_trial import NetworkTrial, Pair
from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.spec.networks import Failover, Tunnel

MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
TUNNEL_NETDEVS = {Tunnel.VXLAN: "vxlan_sys", Tunnel.GENEVE: "genev_sys"}
"""As Open vSwitch calls what it makes of the kernel's tunnels (dpif-netlink.c), then the port."""
Record = Callable[[NetworkTrial], None]
Doing = Callable[[str], None]


class GuestMeasuring:
    """Measures between guests of a spec that is applied.

    `runners` reach its hosts, and its virtual machines.
    """

    def __init__(self, spec: GuestNetworks, runners: Mapping[str, Runner]) -> None:
        self._spec, self._runners = spec, runners

    def measure(self, facts: Mapping[str, HostFacts], record: Record, doing: Doing) -> str:
        """Measure all that the spec asks for; say between what.

        Raises MeasurementError `guests.none` where there is nothing to measure between, InputError
        `port.in_use` for a port that fail-over may not take away: before anything is measured.
        """
        endpoints = endpoints_of(self._spec, self._runners)
        pairs = measured_pairs(self._spec, endpoints)
        if not pairs:
            raise MeasurementError(
                "guests.none",
                where="the spec",
                found="it has no two guests on different hosts in one network that "
                "wirespeed starts",
                so="nothing can be measured between guests",
                next="give two guests on two hosts kind: namespace, qemu or libvirt",
            )
        of = self._spec.measure
        has_failover = self._spec.failover is not Failover.NONE
        switched = endpoints[pairs[0].client].host
        switches = list(self._switches(switched, facts)) if has_failover else []
        hosts = {name: self._runners[name] for name in self._spec.hosts}
        idle_hosts(hosts, record, doing)
        iperf3_matrix(endpoints, hosts, of.iperf3, pairs, record, doing)
        flood_pings(endpoints, of.ping, pairs, record, doing)
        of_vlans = self._spec.guests_own_vfs
        if not of_vlans:
            places = {host: self._offload_place(facts[host], host) for host in facts}
            offloads(endpoints, places, pairs, of.failover.load_pps, record, doing)
        if has_failover:
            bonds = {} if of_vlans else {host: self._bond(facts[host], host) for host in facts}
            failovers(endpoints, of.failover, pairs[0], switches, record, doing, bonds)
        ports = {host: self._netdevs(facts[host], host) for host in facts} if of_vlans else {}
        ends = {} if of_vlans else host_ends(self._spec, hosts)
        isolation(endpoints, hosts, of.isolation, record, ports, doing, ends)
        return f"between {len(endpoints)} guests"

    def _switches(self, host: str, facts: Mapping[str, HostFacts]) -> Iterator[PortSwitch]:
        """Give every port of a host, to be taken away and given back."""
        carried = carriers(facts[host])
        netdevs = self._netdevs(facts[host], host)
        for number, (address, netdev) in enumerate(
            zip(self._spec.hosts[host].ports, netdevs, strict=True)
        ):
            yield port_set_down(
                self._runners[host],
                host=host,
                port=address,
                number=number,
                netdev=netdev,
                carried=carried,
            )

    def _offload_place(self, facts: HostFacts, host: str) -> OffloadPlace:
        """Give where a host is asked which packets its card forwards."""
        spec, tunnel = self._spec, self._spec.underlay.tunnel
        is_counted = approaches()[spec.approach].proof.has_tunnel_netdev
        return OffloadPlace(
            host=host,
            runner=self._runners[host],
            ports=tuple(self._netdevs(facts, host)),
            guest_ports={
                (guest, network): guest_port_of(guest, network, number)
                for guest, wanted in spec.guests.items()
                for number, network in enumerate(wanted.networks)
            },
            tunnel=f"{TUNNEL_NETDEVS[tunnel]}_{PORTS[tunnel]}" if is_counted else "",
            is_expected=has_embedded_switch(spec, host, facts),
        )

    def _bond(self, facts: HostFacts, host: str) -> HostBond:
        """Give the bond of a host's ports, which carries the underlay."""
        return HostBond(self._runners[host], UNDERLAY, tuple(self._netdevs(facts, host)))

    def _netdevs(self, facts: HostFacts, host: str) -> list[str]:
        """Give the netdevs of a host's ports, in the order of the spec."""
        return [netdev_of(facts, host, address) for address in self._spec.hosts[host].ports]


def host_ends(spec: GuestNetworks, hosts: Mapping[str, Runner]) -> dict[str, HostEnd]:
    """Give where the tunnels of each host end, as they say themselves.

    Raises MeasurementError `underlay.unreadable`.
    """
    return {name: _host_end(spec, name, runner) for name, runner in hosts.items()}


def _host_end(spec: GuestNetworks, name: str, runner: Runner) -> HostEnd:
    address = underlay_address(spec, name).ip
    done = runner.run(("ip", "-j", "address", "show"), timeout_s=30.0)
    try:
        macs = [
            str(link["address"])
            for link in read_json(done.output)
            if any(one["local"] == str(address) for one in link["addr_info"])
        ]
    except (ValueError, KeyError, TypeError):
        macs = []
    if len(macs) != 1 or not MAC.fullmatch(macs[0]):
        raise MeasurementError(
            "underlay.unreadable",
            where=name,
            found=f"no netdev has the address {address}",
            so="wirespeed cannot prove that guests cannot reach the tunnels",
            next="check the addresses with `ip address show`",
        )
    return HostEnd(macs[0], address)


def measured_pairs(spec: GuestNetworks, endpoints: Mapping[str, Endpoint]) -> list[Pair]:
    """Give the first two guests on different hosts of every network, in the order of the spec."""
    found = []
    for network in spec.networks:
        guests = [one for one in endpoints.values() if network in one.attachments]
        apart = (
            Pair(client=one.name, server=other.name, network=network)
            for one, other in permutations(guests, 2)
            if one.host != other.host
        )
        found += [pair for pair in [next(apart, None)] if pair is not None]
    return found
