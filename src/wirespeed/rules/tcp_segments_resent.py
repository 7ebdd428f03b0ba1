"""TCP sends again, and the congestion control slows down for it."""

import math
from collections.abc import Iterator

from wirespeed.facts.kernel_tcp import TcpCounts
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom

FEWEST = 10
SHARE = 0.001
"""Below ten segments, and one in a thousand, a capture of a second says nothing."""
FEWEST_OF_FEW, SHARE_OF_FEW = 5, 0.01
"""Of few segments: so many, and even by chance no less than one in a hundred."""
ORDINARY_MTU, PING_HEADERS_BYTES = 1500, 28
CONTROL = "net.ipv4.tcp_congestion_control"


def _check(exam: HostExam) -> Iterator[Finding]:
    counts, sysctls = exam.host[TcpCounts], exam.host[Sysctls]
    sent = known(counts.sent_segments, "how many segments TCP sends")
    resent = known(counts.resent_segments, "how many segments TCP sends again")
    if not (_are_many(resent, sent) or _are_many_of_few(resent, sent)):
        return
    control = known(sysctls.text(CONTROL), "the congestion control")
    remedies = [
        *_full_size(exam.host[NetStack]),
        Remedy(
            text="the sender counts retransmissions, so the loss is between this host and its "
            "receivers: check transmit drops here, the switch, then drops at the peers "
            "(`ethtool -S`: discards, out_of_buffer, CRC). `ss -ti` shows which connections "
            "retransmit, and so on which peer to run the doctor",
            by_hand=ByHand.FIND_FIRST,
        ),
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


def _are_many(resent: int, sent: int) -> bool:
    return resent >= FEWEST and resent > SHARE * sent


def _are_many_of_few(resent: int, sent: int) -> bool:
    """Tell by the least that a count stands for: less than two deviations below it is chance."""
    least = resent - 2 * math.sqrt(resent)
    return resent >= FEWEST_OF_FEW and least > SHARE_OF_FEW * sent


def _full_size(stack: NetStack) -> Iterator[Remedy]:
    """Where frames are longer than usual here, try first whether the way takes them."""
    links = stack.links.value.values() if isinstance(stack.links, Known) else ()
    jumbo = {
        link.netdev: link.mtu.value
        for link in links
        if isinstance(link.mtu, Known)
        and link.mtu.value > ORDINARY_MTU
        and isinstance(link.addresses, Known)
        and any(not own.is_loopback and not own.is_link_local for own in link.addresses.value)
    }
    if jumbo:
        netdev = max(jumbo, key=lambda name: jumbo[name])
        size = jumbo[netdev] - PING_HEADERS_BYTES
        yield Remedy(
            text=f"first try whether the way takes frames of the MTU of {netdev}: `ping -M do -s "
            f"{size} PEER`. Where it gets no answer, and one with `-s 1472` does, a switch or the "
            "peer has a smaller MTU: set it there, or the MTU of 1500 here",
            by_hand=ByHand.FIND_FIRST,
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
