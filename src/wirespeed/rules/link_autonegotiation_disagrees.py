"""One end of a link negotiates, and the other is set by hand."""

from collections.abc import Iterator

from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import link_that_is_up
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    link = link_that_is_up(exam.host, exam.port)
    ours, theirs = link.autonegotiation, link.partner_autonegotiation
    if isinstance(theirs, Absent):
        raise DoesNotApplyError("the driver does not report what the peer advertises")
    here = known(ours, f"whether {link.netdev} negotiates")
    there = known(theirs, f"whether the peer of {link.netdev} negotiates")
    # A driver that knows nothing of its peer prints `No` and no modes: that is no evidence.
    if here == there or not isinstance(link.partner.bps, Known):
        return
    half = isinstance(link.is_full_duplex, Known) and not link.is_full_duplex.value
    evidence = [
        Evidence.of(observed, f"autonegotiation {'on' if observed.value else 'off'} {where}")
        for observed, where in ((ours, "here"), (theirs, "at the peer"))
        if isinstance(observed, Known)
    ]
    if isinstance(link.link_bps, Known):
        duplex = "half duplex" if half else "full duplex"
        text = f"{link.link_bps.value / 1e9:g} Gb/s, {duplex}"
        evidence.append(Evidence.of(link.link_bps, text))
    yield exam.finding(
        Severity.FAULT if half else Severity.RISK,
        tuple(evidence),
        so="one end is at half duplex, so frames of the two ends collide all the time"
        if half
        else (
            "the two ends match only by chance: after the next loss of link they may not match, "
            "or the link may stay down"
        ),
        remedies=(
            Remedy(
                text="let the other end negotiate too, or set both by hand to the same speed and "
                "duplex",
                by_hand=ByHand.FAR_END,
            )
            if here
            else Remedy(
                text="let both ends negotiate, or set both by hand to the same speed and duplex",
                commands=(ethtool_command("-s", link.netdev, "autoneg", "on"),),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("link_mode", netdev=link.netdev, autoneg=True),),
            ),
        ),
        unpriced="it costs nothing while the link stays as it is" if not half else "",
    )


RULE = PortRule(
    slug="link.autonegotiation_disagrees",
    title="Autonegotiation on at one end only",
    why="A port that negotiates gets no answer from a port that does not. On twisted pair it "
    "detects the speed but must assume half duplex. On direct-attach cables of 25 Gb/s and "
    "more, where FEC and training are negotiated too, the link stays down or falls to the "
    "slowest mode.",
    source="IEEE 802.3 clauses 28.2.3.1 (parallel detection) and 73",
    explains=(Symptom.NO_LINK, Symptom.HALF_DUPLEX, Symptom.SLOW_LINK),
    check=_check,
)
