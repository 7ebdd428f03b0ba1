"""A switch port that takes shorter frames than the host sends."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import HostExam, HostRule, of_each
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.switch.facts.switchport_ends import CableEnd, cable_ends


def _check(exam: HostExam) -> Iterator[Finding]:
    yield from of_each(cable_ends(exam.host), lambda pair: _pair(exam, pair))


def _pair(exam: HostExam, pair: CableEnd) -> Iterator[Finding]:
    ours = known(pair.mtu, f"the MTU of {pair.name}")
    theirs = known(pair.port.mtu_bytes, f"the MTU of {pair.place}")
    # Some switches count the Ethernet header, some do not: less than the packet is too short.
    if theirs >= ours:
        return
    evidence = []
    if isinstance(pair.mtu, Known):
        evidence.append(Evidence.of(pair.mtu, f"{pair.name} sends packets of {ours} bytes"))
    if isinstance(pair.port.mtu_bytes, Known):
        evidence.append(Evidence.of(pair.port.mtu_bytes, f"{pair.place} takes {theirs}"))
    yield exam.finding(
        Severity.FAULT,
        tuple(evidence),
        so="the switch drops full-size packets, and the sender gets no error",
        where=pair.name,
        remedies=(
            Remedy(
                text="raise the MTU of this switch port, and of all switch ports on the path, to "
                "their maximum: `wirespeed link HOST NETDEV SWITCH --switch-mtu 9216`; or "
                "lower the host's MTU",
                by_hand=ByHand.FAR_END,
            ),
        ),
        unpriced="short packets pass: the cost depends on the traffic",
    )


RULE = HostRule(
    slug="switchport.mtu_below_host",
    title="Switch port MTU below the host's",
    why="A switch drops a frame that is longer than its port's MTU and, unlike a router, sends "
    "no ICMP message. Pings and logins work, but a file copy hangs: its full-size packets "
    "never arrive.",
    source="IEEE 802.1Q 6.5.8; RFC 4821 section 1 (black holes)",
    explains=(Symptom.SEGMENTS_RESENT, Symptom.RDMA_LOSS, Symptom.LOW_FIGURE),
    check=_check,
)
