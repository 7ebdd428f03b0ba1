"""Frames that were dropped whole because they are longer than the port takes."""

from collections.abc import Iterator

from wirespeed.facts.counters_moved import Counts, MovedCounters
from wirespeed.facts.netstack import NetStack
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.counters_moved_unexplained import LEAST_COUNT, LEAST_SHARE, frames_of

SHARE = "count / frames received and sent in the same time"


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.port.netdev
    if netdev is None:
        raise DoesNotApplyError("a port without a netdev has no counters here")
    observed = exam.host[MovedCounters].by_netdev[netdev]
    moved = known(observed, f"what moved of the counters of {netdev}")
    long = [one for one in moved if one.counts is Counts.TOO_LONG]
    if not long or not isinstance(observed, Known):
        return
    frames = frames_of(exam, netdev)
    share = min(long[0].count / frames, 1.0) if frames else None
    is_more = long[0].count >= LEAST_COUNT and (share is None or share >= LEAST_SHARE)
    links = exam.host[NetStack].links
    own = links.value.get(netdev) if isinstance(links, Known) else None
    mtu = own.mtu if own is not None else None
    evidence = [
        Evidence(found=f"{one.name} grew by {one.count}", source=observed.source) for one in long
    ]
    if isinstance(mtu, Known):
        evidence.append(Evidence.of(mtu, f"MTU {mtu.value} here"))
    yield exam.finding(
        Severity.RISK if is_more else Severity.NOTE,
        tuple(evidence),
        so="a sender in this network has frames that are longer than this port's MTU: they "
        "arrive undamaged and are dropped, so full-size packets of that sender never get through",
        remedies=(
            Remedy(
                text="give every port of this network the same MTU: compare that of this port with "
                "those of the senders and of the switch ports between",
                by_hand=ByHand.FAR_END,
            ),
        ),
        bounds=()
        if share is None
        else (Bound.of_share(Limit.AT_LEAST, share, "of the frames, which are lost", SHARE),),
        unpriced="how many frames passed meanwhile was not read; `ip -s link show` tells",
    )


RULE = PortRule(
    slug="mtu.frames_too_long",
    title="Frames longer than the port's MTU arrive",
    why="A card drops a frame that is longer than its MTU allows before any queue has it. The "
    "check sum of such a frame is right, so cable and module are good: the sender's MTU is larger.",
    source="https://docs.kernel.org/networking/statistics.html (rx_length_errors); Intel 82599 "
    "datasheet, ROC (receive oversize count)",
    price=f"at least: {SHARE}",
    explains=(Symptom.SEGMENTS_RESENT, Symptom.RDMA_LOSS, Symptom.LOW_FIGURE),
    check=_check,
)
