"""Tunnels over UDP on a port that hashes UDP by its addresses only."""

from collections.abc import Iterator

from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.steering import Steering
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    steering = exam.host[Steering].of(netdev)
    if isinstance(steering.hashes_udp_ports, Absent):
        raise DoesNotApplyError(
            f"the hash fields are not known: {steering.hashes_udp_ports.reason}"
        )
    if known(steering.hashes_udp_ports, "hash fields of UDP"):
        return
    if known(steering.rx_rings, "number of receive queues") < 2:
        raise DoesNotApplyError("it has one receive queue")
    stack = exam.host[NetStack]
    tunnels = [
        link.netdev
        for link in known(stack.links, "netdevs").values()
        if link.vxlan
        and (not isinstance(link.vxlan.underlay, Known) or netdev in stack.ports_below(link.netdev))
    ]
    if not tunnels:
        return
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(
                found="UDP over IPv4 is hashed by its addresses, without its ports",
                source=steering.hashes_udp_ports.source,
            ),
            Evidence(
                found=f"{len(tunnels)} VXLAN netdevs ({', '.join(sorted(tunnels)[:4])}) may leave "
                "by it",
                source="ip -d link show type vxlan",
            ),
        ),
        so="all tunnel traffic from one peer goes to one receive queue, on one core",
        remedies=(
            Remedy(
                text="hash the ports too: the tunnel's sender encodes the inner flow in the "
                "source port. Fragments of a packet may then be reordered",
                commands=(ethtool_command("-N", netdev, "rx-flow-hash", "udp4", "sdfn"),),
                steps=(StepCall.of("rss_fields", netdev=netdev, flow="udp4", fields="sdfn"),),
            ),
        ),
        unpriced="it costs throughput once one core is saturated; on 10 Gb/s cards 2 to 3 Gb/s "
        "remained",
    )


RULE = PortRule(
    slug="steering.tunnels_hashed_by_address",
    title="Tunnel traffic hashed to one queue",
    why="A UDP tunnel hides its inner flows. The sender puts a hash of the inner flow into the "
    "outer source port, so that receivers can distribute the flows. A card that hashes UDP "
    "by addresses only, which is what several Intel drivers set to keep fragments in order, "
    "treats all traffic from one peer as one flow.",
    source="RFC 7348, section 5 (outer UDP header); https://support.cumulusnetworks.com/hc/en-us/"
    "articles/202862933-Slow-Bandwidth-Performance-Utilization-while-Using-VXLAN",
    explains=(Symptom.CPU_BEHIND, Symptom.NO_DESCRIPTOR, Symptom.LOW_FIGURE),
    check=_check,
)
