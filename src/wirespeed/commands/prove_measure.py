"""What a proof measures between the guests of a spec."""

from collections.abc import Callable, Iterator, Mapping
from itertools import permutations

from wirespeed.apply.guard import carriers
from wirespeed.approaches.host_ports import netdev_of
from wirespeed.host.runner import Runner
from wirespeed.measure.endpoint import Endpoint
from wirespeed.measure.endpoints import endpoints_of
from wirespeed.measure.network_failover import failovers
from wirespeed.measure.network_iperf3 import iperf3_matrix
from wirespeed.measure.network_isolation import isolation
from wirespeed.measure.network_ping import flood_pings
from wirespeed.measure.network_port_switch import PortSwitch, port_set_down
from wirespeed.model.error import MeasurementError
from wirespeed.model.fact import HostFacts
from wirespeed.model.network_trial import NetworkTrial, Pair
from wirespeed.model.spec import Approach, Failover, Spec

Record = Callable[[NetworkTrial], None]
Doing = Callable[[str], None]


class Measuring:
    """Measures a spec that is applied; `runners` reach its hosts, and its virtual machines."""

    def __init__(self, spec: Spec, runners: Mapping[str, Runner]) -> None:
        self._spec, self._runners = spec, runners

    def measure(self, facts: Mapping[str, HostFacts], record: Record, doing: Doing) -> str:
        """Measure all that the spec asks for; say how much it was.

        Raises MeasurementError `guests.none` where there is nothing to measure between.
        """
        endpoints = endpoints_of(self._spec, self._runners)
        pairs = measured_pairs(self._spec, endpoints)
        if not pairs:
            raise MeasurementError(
                "guests.none",
                found="no two guests of ours on different hosts are in one network",
                so="nothing can be measured between guests",
                next="give two guests on two hosts `kind: namespace`, or qemu, or libvirt",
            )
        count = 0

        def counted(trial: NetworkTrial) -> None:
            nonlocal count
            record(trial)
            count += 1

        of = self._spec.measure
        hosts = {name: self._runners[name] for name in self._spec.hosts}
        iperf3_matrix(endpoints, hosts, of.iperf3, pairs, counted, doing)
        flood_pings(endpoints, of.ping, pairs, counted, doing)
        if self._spec.failover is not Failover.NONE:
            switches = list(self._switches(endpoints[pairs[0].client].host, facts))
            failovers(endpoints, of.failover, pairs[0], switches, counted, doing)
        of_vlans = self._spec.approach is Approach.LEGACY_VLAN
        ports = {host: self._netdevs(facts[host], host) for host in facts} if of_vlans else {}
        isolation(endpoints, hosts, of.isolation, counted, ports, doing)
        return f"{count} trials between {len(endpoints)} guests"

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

    def _netdevs(self, facts: HostFacts, host: str) -> list[str]:
        """Give the netdevs of a host's ports, in the order of the spec."""
        return [netdev_of(facts, host, address) for address in self._spec.hosts[host].ports]


def measured_pairs(spec: Spec, endpoints: Mapping[str, Endpoint]) -> list[Pair]:
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
