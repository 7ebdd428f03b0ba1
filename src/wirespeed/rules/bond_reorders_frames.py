"""A bond that sends the frames of one connection in turn by all of its members."""

from collections.abc import Iterator

from wirespeed.facts.kernel_tcp import TcpCounts
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.bond_one_member_by_hash import bonds_that_spread

IN_TURN = "balance-rr"


def _check(exam: HostExam) -> Iterator[Finding]:
    for link in bonds_that_spread(exam, (IN_TURN,)):
        if link.bond is None or not isinstance(link.bond.mode, Known):
            continue
        resent = exam.host[TcpCounts].resent_segments
        seen = (
            (Evidence.of(resent, f"{resent.value} TCP segments resent during the capture"),)
            if isinstance(resent, Known) and resent.value
            else ()
        )
        yield exam.finding(
            Severity.RISK,
            (Evidence.of(link.bond.mode, f"mode {IN_TURN}"), *seen),
            so="frames of one connection overtake each other: TCP takes gaps for losses, sends "
            "again and slows down, and a receiver cannot merge its segments",
            where=link.netdev,
            remedies=(
                Remedy(
                    text="use mode 802.3ad with xmit_hash_policy layer3+4 and LACP at the switch: "
                    "a connection then stays on one member, and several use all. Keep "
                    f"{IN_TURN} only where one connection has to exceed one member, between two "
                    "hosts without a switch, and raise net.ipv4.tcp_reordering there",
                    by_hand=ByHand.FAR_END,
                ),
            ),
            unpriced="the cost depends on how far the members' queues differ: compare one "
            "connection over the bond with one over a single member",
        )


RULE = HostRule(
    slug="bond.reorders_frames",
    title="Bond in round-robin mode reorders TCP",
    why="balance-rr is the only mode in which one connection uses more than one member, and the "
    "price of that is order: frames wait in queues of different lengths. From the third "
    "duplicate acknowledgement on (RFC 5681 section 3.2) TCP sends again what is still on its way.",
    source="https://docs.kernel.org/networking/bonding.html (balance-rr; `packets arriving out of "
    "order, causing TCP/IP's congestion control system to kick in`)",
    explains=(Symptom.SEGMENTS_RESENT, Symptom.LOW_FIGURE),
    check=_check,
)
