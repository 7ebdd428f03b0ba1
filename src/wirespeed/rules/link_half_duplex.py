"""A link that cannot send and receive at once."""

from collections.abc import Iterator

from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import link_that_is_up
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom


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
        so="the port cannot send and receive at the same time, and frames collide",
        remedies=(
            Remedy(
                text="let the other end negotiate, as this one does: a port assumes half duplex "
                "if its peer is set by hand",
                by_hand=ByHand.FAR_END,
            )
            if isinstance(link.autonegotiation, Known) and link.autonegotiation.value
            else Remedy(
                text="let both ends negotiate; a port assumes half duplex if its peer is set by "
                "hand",
                commands=(ethtool_command("-s", link.netdev, "autoneg", "on"),),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("link_mode", netdev=link.netdev, autoneg=True),),
            ),
        ),
    )


RULE = PortRule(
    slug="link.half_duplex",
    title="Half duplex",
    why="At half duplex a port does not send while it receives, and frames that both ends send "
    "at once are lost and sent again. A peer at full duplex does not wait, so collisions are "
    "constant. Links of 1 Gb/s or more should never run at half duplex.",
    source="IEEE 802.3 clauses 4 and 28.2.3.1",
    shows=(Symptom.HALF_DUPLEX,),
    explains=(Symptom.DAMAGED_FRAMES, Symptom.TRANSMIT_DROPS, Symptom.LOW_FIGURE),
    check=_check,
)
