"""A peer that is slower than the port: a ceiling that this host cannot lift, and no fault."""

from collections.abc import Iterator

from wirespeed.facts.link import link_that_is_up
from wirespeed.model.finding import ByHand, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.link_slower_than_both_ends import (
    changes_to,
    evidence_of,
    gbps,
    now_and_own,
)


def _check(exam: PortExam) -> Iterator[Finding]:
    link = link_that_is_up(exam.host, exam.port)
    now, own = now_and_own(link)
    if not own or now >= max(own):
        return
    if isinstance(link.partner.bps, Absent):
        raise DoesNotApplyError(f"the peer of {link.netdev} does not report its modes")
    partner = known(link.partner.bps, f"modes of the peer of {link.netdev}")
    if max({*own} & {*partner}, default=now) > now:
        return
    yield exam.finding(
        Severity.CEILING,
        tuple(evidence_of(link)),
        so=f"the link runs at {now / max(own):.0%} of the {gbps(max(own))} that this port "
        "supports; its peer offers no more",
        remedies=(
            Remedy(
                text="connect it to a faster port; where the peer's port is meant to be faster, "
                "look at what it is set to, and try another cable: BASE-T steps down on a bad pair",
                by_hand=ByHand.HARDWARE,
            ),
        ),
        changes=changes_to(exam, max(own)),
    )


RULE = PortRule(
    slug="link.peer_slower",
    title="Peer of the link offers no higher speed",
    why="Autonegotiation selects the fastest mode that both ends advertise. A fast port on a "
    "slower switch port, modem or module is not a fault, but it is a ceiling of all traffic.",
    source="IEEE 802.3 clauses 28 and 73; https://docs.kernel.org/networking/ethtool-netlink.html "
    "(LINKMODES_GET)",
    price="lowest ceiling of the path now, and at the best speed that this port supports",
    explains=(Symptom.TRANSMIT_DROPS, Symptom.LOW_FIGURE),
    check=_check,
)
