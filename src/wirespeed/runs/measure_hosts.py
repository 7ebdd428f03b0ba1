"""What a proof measures between the ports of hosts, without guests."""

from collections.abc import Callable, Mapping
from itertools import pairwise

from wirespeed.approaches.host_ports import netdev_of
from wirespeed.approaches.hosts_only import network_netdev, port_address
from wirespeed.facts.netstack import NetStack
from wirespeed.host.runner import Runner
from wirespeed.measure.network.endpoint import Attachment, Endpoint
from wirespeed.measure.network.host_cpu import idle_hosts
from wirespeed.measure.network.iperf3 import iperf3_matrix
from wirespeed.measure.network.ping import flood_pings
from wirespeed.model.error import MeasurementError
from wirespeed.model.fact import HostFacts
from wirespeed.model.network_trial import NetworkTrial, Pair
from wirespeed.model.observed import known
from wirespeed.model.spec.members import HostsOnly
from wirespeed.model.spec.networks import HostNetwork

NETWORK = "underlay"
"""What the network of the ports is called in trials."""


class HostMeasuring:
    """Measures from each host of a spec that is applied to the next; `runners` reach them."""

    def __init__(self, spec: HostsOnly, runners: Mapping[str, Runner]) -> None:
        self._spec, self._runners = spec, runners

    def measure(
        self,
        facts: Mapping[str, HostFacts],
        record: Callable[[NetworkTrial], None],
        doing: Callable[[str], None],
    ) -> str:
        """Measure all that the spec asks for; say between what.

        Raises MeasurementError `hosts.none` where there is nothing to measure between.
        """
        network = self._spec.underlay
        if network is None or len(self._spec.hosts) < 2:
            raise MeasurementError(
                "hosts.none",
                where="the spec",
                found="it has no two hosts with a network between their ports",
                so="nothing can be measured between hosts",
                next="give two hosts, and `underlay: {subnet: 192.168.9.0/24, mtu: 9000}`",
            )
        ends = {name: self._endpoint(name, facts[name], network) for name in self._spec.hosts}
        pairs = [Pair(client=a, server=b, network=NETWORK) for a, b in pairwise(self._spec.hosts)]
        hosts = {name: self._runners[name] for name in self._spec.hosts}
        of = self._spec.measure
        idle_hosts(hosts, record, doing)
        iperf3_matrix(ends, hosts, of.iperf3, pairs, record, doing)
        flood_pings(ends, of.ping, pairs, record, doing)
        return f"between {len(hosts)} hosts"

    def _endpoint(self, name: str, facts: HostFacts, network: HostNetwork) -> Endpoint:
        """Give a host as one end of a flow."""
        (port,) = self._spec.hosts[name].ports
        netdev, address = netdev_of(facts, name, port), port_address(self._spec, name)
        above = network_netdev(self._spec, netdev)
        links = known(facts[NetStack].links, f"the netdevs of {name}")
        of_port = Attachment(
            network=NETWORK,
            segment=network.vlan or 0,
            netdev=above,
            members=(above,),
            address=address.ip,
            prefix_length=address.network.prefixlen,
            mac=known(links[netdev].mac, f"the MAC address of {netdev}"),
            mtu=network.mtu,
        )
        return Endpoint(name, name, self._runners[name], {NETWORK: of_port})
