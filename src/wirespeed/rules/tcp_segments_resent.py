"""TCP sends again, and the congestion control slows down for it."""

from collections.abc import Iterator

from wirespeed.facts.kernel_tcp import TcpCounts
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom

FEWEST = 10
SHARE = 0.001
"""Below ten segments, and one in a thousand, a capture of a second says nothing."""
CONTROL = "net.ipv4.tcp_congestion_control"


def _check(exam: HostExam) -> Iterator[Finding]:
    counts, sysctls = exam.host[TcpCounts], exam.host[Sysctls]
    sent = known(counts.sent_segments, "how many segments TCP sends")
    resent = known(counts.resent_segments, "how many segments TCP sends again")
    if resent < FEWEST or resent <= SHARE * sent:
        return
    control = known(sysctls.text(CONTROL), "the congestion control")
    remedies = [
        Remedy(
            text="the sender counts retransmissions, so the loss is between this host and its "
            "receivers: check transmit drops here, the switch, then drops at the peers "
            "(`ethtool -S`: discards, out_of_buffer, CRC). `ss -ti` shows which connections "
            "retransmit, and so on which peer to run the doctor",
            by_hand=ByHand.FIND_FIRST,
        )
    ]
    if control != "bbr" and _has_bbr(exam):
        remedies.append(
            sysctl_remedy(
                "if the loss cannot be fixed (a policer, a shallow buffer on the path), try BBR, "
                "which does not treat each loss as congestion",
                (CONTROL, "bbr"),
            )
        )
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(
                found=f"{resent} segments sent again, of {sent} sent during the capture",
                source=counts.resent_segments.source,
            ),
            Evidence(found=f"congestion control {control}", source=f"sysctl {CONTROL}"),
        ),
        so="frames are lost or late on the path, and connections slow down",
        remedies=tuple(remedies),
        unpriced="the counter covers all connections and ports: which of them slow down is not "
        "known",
    )


def _has_bbr(exam: HostExam) -> bool:
    available = exam.host[Sysctls].text("net.ipv4.tcp_available_congestion_control")
    if isinstance(available, Known) and "bbr" in available.value.split():
        return True
    module = exam.host[TcpCounts].bbr_module
    return isinstance(module, Known) and module.value


RULE = HostRule(
    slug="tcp.segments_resent",
    title="TCP retransmits segments",
    why="CUBIC and Reno treat a lost segment as a full queue and send less, so they never reach "
    "line rate on a path that loses frames for other reasons. BBR uses the measured delivery "
    "rate instead. Without loss, changing the congestion control gains nothing.",
    source="RFC 9438 (CUBIC) section 4.6; Cardwell et al., BBR, ACM Queue 14 (5), 2016; RFC 6298",
    shows=(Symptom.SEGMENTS_RESENT,),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
