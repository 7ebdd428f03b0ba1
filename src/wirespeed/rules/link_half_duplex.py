"""A link that cannot send and receive at once."""

from collections.abc import Iterator

from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import link_that_is_up
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule


def _check(exam: PortExam) -> Iterator[Finding]:
    link = link_that_is_up(exam.host, exam.port)
    if isinstance(link.is_full_duplex, Absent):
        raise DoesNotApplyError("the driver reports no duplex mode")
    if known(link.is_full_duplex, f"duplex of {link.netdev}"):
        return
    evidence = []
    if isinstance(link.is_full_duplex, Known):
        evidence.append(Evidence.of(link.is_full_duplex, "half duplex"))
    if isinstance(link.link_bps, Known):
        evidence.append(Evidence.of(link.link_bps, f"{link.link_bps.value / 1e9:g} Gb/s"))
    yield exam.finding(
        Severity.FAULT,
        tuple(evidence),
        so="it sends or receives, never both, and frames collide",
        remedies=(
            Remedy(
                text="let the other end negotiate, as this one does: half duplex is what a port "
                "assumes whose peer is set by hand",
                by_hand=ByHand.FAR_END,
            )
            if isinstance(link.autonegotiation, Known) and link.autonegotiation.value
            else Remedy(
                text="let both ends negotiate; half duplex is what a port assumes whose peer is "
                "set by hand",
                commands=(ethtool_command("-s", link.netdev, "autoneg", "on"),),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("link_mode", netdev=link.netdev, autoneg=True),),
            ),
        ),
    )


RULE = PortRule(
    slug="link.half_duplex",
    title="Half duplex",
    why="At half duplex a port waits while it receives, and what two ends send at once is lost and "
    "sent again. If the peer is at full duplex, it does not even wait. No link of 1 Gb/s or more "
    "is meant to be so.",
    source="IEEE 802.3 clauses 4 and 28.2.3.1",
    check=_check,
)
