"""Frames that a cloud held back or dropped because the instance had used up its share."""

from collections.abc import Iterator

from wirespeed.facts.counters import Counters, Place
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

LARGER = "a larger or network-optimized type of instance has more"
SMOOTH = "spread the load over time or over more instances (short bursts count, whatever the mean)"
ADVICE = {
    Place.ALLOWANCE_IN: f"{SMOOTH}; {LARGER}",
    Place.ALLOWANCE_OUT: f"{SMOOTH}; pace what sends (tc qdisc fq); {LARGER}",
    Place.ALLOWANCE_PPS: "send larger frames (MTU 9001 within the VPC, segmentation offload on); "
    f"{SMOOTH}; {LARGER}",
    Place.ALLOWANCE_CONNECTIONS: "new connections are refused: have security groups that track "
    "none (all traffic allowed both ways), close idle connections sooner, reuse them; "
    f"{LARGER}",
    Place.ALLOWANCE_LINK_LOCAL: "names, the instance's metadata and the time are asked for too "
    "often: cache names on the instance; a larger type does not help, the limit is of each "
    "interface",
}
DROPS = (Place.ALLOWANCE_CONNECTIONS, Place.ALLOWANCE_LINK_LOCAL)
"""What is above these is dropped, never queued, and somebody can mend it."""


def _check(exam: PortExam) -> Iterator[Finding]:
    counters = exam.host[Counters]
    read = {place: counters.delta(exam.port.netdev, place) for place in ADVICE}
    if all(isinstance(one, Absent) for one in read.values()):
        raise DoesNotApplyError("the driver has no counter of what a cloud allows")
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
            so=f"the {place} was used up: frames {are} {what} by the cloud, outside the host",
            remedies=(Remedy(text=ADVICE[place], by_hand=ByHand.WORKLOAD),),
            unpriced="what the type of instance allows stands in the cloud's documents alone"
            if now.count
            else "it did not grow during the capture",
        )


RULE = PortRule(
    slug="errors.allowance_exceeded",
    title="Instance used up what its cloud allows",
    why="A type of instance has a share of bandwidth, frames a second and tracked connections. "
    "What is above it is queued or dropped outside the host, where no queue, ring or CPU of it "
    "shows anything. ENA counts it. Bursts of milliseconds are enough, so that a mean of a "
    "minute far below the limit acquits nothing.",
    source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-network-performance-ena"
    ".html; https://repost.aws/knowledge-center/ec2-instance-exceeding-network-limits",
    check=_check,
)
