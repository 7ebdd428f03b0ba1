"""Frames that a cloud held back or dropped because the instance had used up its share."""

from collections.abc import Iterator

from wirespeed.facts.counters import Counters, Place
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

LARGER = "use a larger or network-optimized instance type, which is allowed more"
SMOOTH = "spread the load over time or over more instances (short bursts count, whatever the mean)"
ADVICE = {
    Place.ALLOWANCE_IN: f"{SMOOTH}; {LARGER}",
    Place.ALLOWANCE_OUT: f"{SMOOTH}; pace the senders (tc qdisc fq); {LARGER}",
    Place.ALLOWANCE_PPS: "send larger frames (MTU 9001 within the VPC, segmentation offload on); "
    f"{SMOOTH}; {LARGER}",
    Place.ALLOWANCE_CONNECTIONS: (
        "new connections are refused: use security groups that do not "
        "track connections (all traffic allowed both ways), close idle "
        f"connections sooner, reuse them; {LARGER}"
    ),
    Place.ALLOWANCE_LINK_LOCAL: (
        "the instance sends too many requests for DNS, instance metadata "
        "and time: cache names on the instance; a larger type does not "
        "help, as the limit is per interface"
    ),
}
DROPS = (Place.ALLOWANCE_CONNECTIONS, Place.ALLOWANCE_LINK_LOCAL)
"""What is above these is dropped, never queued, and somebody can mend it."""


def _check(exam: PortExam) -> Iterator[Finding]:
    counters = exam.host[Counters]
    read = {place: counters.delta(exam.port.netdev, place) for place in ADVICE}
    if all(isinstance(one, Absent) for one in read.values()):
        raise DoesNotApplyError("the driver has no counter of the cloud's limits")
    for place, delta in read.items():
        if isinstance(delta, Absent):
            continue
        now = known(delta, place)
        total = known(counters.total(exam.port.netdev, place), place)
        name = " + ".join(now.counters)
        if not total:
            continue
        text = (
            f"{name} grew by {now.count} in {now.seconds:.2f} s"
            if now.count
            else f"{name}: {total} since the driver was loaded; none now"
        )
        grows = Severity.FAULT if place in DROPS else Severity.CEILING
        what = "dropped" if place in DROPS else "queued or dropped"
        are = "are" if now.count else "were, before this capture,"
        yield exam.finding(
            grows if now.count else Severity.NOTE,
            (Evidence(found=text, source=delta.source),),
            so=f"the {place} was exceeded: frames {are} {what} by the cloud, outside the host",
            remedies=(Remedy(text=ADVICE[place], by_hand=ByHand.WORKLOAD),),
            unpriced="only the cloud's documents say what the instance type allows"
            if now.count
            else "it did not grow during the capture",
        )


RULE = PortRule(
    slug="errors.allowance_exceeded",
    title="Instance exceeded its cloud's network allowance",
    why="The cloud limits bandwidth, frames per second and tracked connections of each "
    "instance type. It queues or drops traffic above a limit outside the host, so no queue, "
    "ring or CPU of the host shows it; the ENA driver counts it. Bursts of milliseconds are "
    "enough: an average over a minute that is far below the limit does not rule it out.",
    source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-network-performance-ena"
    ".html; https://repost.aws/knowledge-center/ec2-instance-exceeding-network-limits",
    explains=(Symptom.SEGMENTS_RESENT, Symptom.TRANSMIT_DROPS, Symptom.LOW_FIGURE),
    check=_check,
)
