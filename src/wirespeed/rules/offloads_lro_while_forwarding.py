"""Large receive offload on a port whose frames are passed on."""

from collections.abc import Iterator

from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.offloads import Offloads
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, known
from wirespeed.model.rule import PortExam, PortRule

LRO = "large-receive-offload"
FORWARDING = ("bridge", "openvswitch")


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    seen = exam.host[Offloads].of(netdev).feature(LRO)
    if isinstance(seen, Absent) or not known(seen, "large receive offload").is_on:
        return
    stack = exam.host[NetStack]
    above = stack[netdev].master
    if isinstance(above, Absent):
        return
    master = known(above, "the master of the netdev")
    kind = stack[master].kind
    if isinstance(kind, Absent) or known(kind, f"kind of {master}") not in FORWARDING:
        return
    yield exam.finding(
        Severity.FAULT,
        (
            Evidence(found=f"{LRO}: on", source=seen.source),
            Evidence(
                found=f"{netdev} belongs to {master}, which forwards frames", source=above.source
            ),
        ),
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


RULE = PortRule(
    slug="offloads.lro_while_forwarding",
    title="LRO on while the host forwards packets",
    why="LRO merges frames in the card and discards the information needed to segment them "
    "again. That suits packets that end on this host. The kernel turns LRO off when a netdev "
    "joins a bridge; if it is turned on again, forwarded packets are lost.",
    source="dev_disable_lro(): "
    "https://www.kernel.org/doc/htmldocs/networking/API-dev-disable-lro.html",
    check=_check,
)
