"""Large receive offload on a port whose frames are passed on."""

from collections.abc import Iterator

from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.netstack import Link, NetStack
from wirespeed.facts.offloads import Offloads
from wirespeed.facts.sysctl import Sysctls
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom

LRO = "large-receive-offload"
FORWARDING = ("bridge", "openvswitch")
AGGREGATES = ("bond", "team")
ROUTER = "net.ipv4.ip_forward"


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    seen = exam.host[Offloads].of(netdev).feature(LRO)
    if isinstance(seen, Absent) or not known(seen, "large receive offload").is_on:
        return
    router = exam.host[Sysctls].number(ROUTER)
    if way := _way_to_forwarder(exam.host[NetStack], netdev):
        severity = Severity.FAULT
        *between, bridge = (link.netdev for link in way)
        found = f"is below {', '.join(between)} and {bridge}" if between else f"belongs to {bridge}"
        forwards = Evidence(
            found=f"{netdev} {found}, which forwards frames", source="ip -d link show"
        )
    elif isinstance(router, Known) and router.value == 1:
        severity = Severity.RISK
        forwards = Evidence.of(router, f"{ROUTER} is 1: the host forwards packets")
    else:
        return
    yield exam.finding(
        severity,
        (Evidence(found=f"{LRO}: on", source=seen.source), forwards),
        so="merged packets are longer than the MTU of the port that they leave by, and are dropped",
        remedies=(
            Remedy(
                text="use GRO instead: its merged packets can be segmented again",
                commands=(ethtool_command("-K", netdev, LRO, "off"),),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("offloads", netdev=netdev, features={LRO: False}),),
            ),
        ),
        unpriced="it costs the merged flows: they show retransmissions",
    )


def _way_to_forwarder(stack: NetStack, netdev: str) -> tuple[Link, ...]:
    """Give what lies above a netdev up to a bridge, through bonds and VLANs; empty: no bridge.

    dev_disable_lro() of net/core/dev.c goes the same way down.
    """
    above = stack[netdev].master
    if not isinstance(above, Absent):
        link = stack[known(above, f"the master of {netdev}")]
        if not isinstance(link.kind, Absent):
            kind = known(link.kind, f"kind of {link.netdev}")
            if kind in FORWARDING:
                return (link,)
            if kind in AGGREGATES and (way := _way_to_forwarder(stack, link.netdev)):
                return (link, *way)
    for link in stack.directly_above(netdev):
        is_vlan = isinstance(link.kind, Known) and link.kind.value == "vlan"
        if is_vlan and (way := _way_to_forwarder(stack, link.netdev)):
            return (link, *way)
    return ()


RULE = PortRule(
    slug="offloads.lro_while_forwarding",
    title="LRO on while the host forwards packets",
    why="LRO merges frames in the card and discards the information needed to segment them "
    "again. That suits packets that end on this host. The kernel turns LRO off when a netdev "
    "joins a bridge and when the host becomes a router; if it is turned on again, forwarded "
    "packets are lost.",
    source="dev_disable_lro(): "
    "https://www.kernel.org/doc/htmldocs/networking/API-dev-disable-lro.html",
    explains=(Symptom.SEGMENTS_RESENT, Symptom.LOW_FIGURE),
    check=_check,
)
