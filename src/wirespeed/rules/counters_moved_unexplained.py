"""A counter of loss or of errors that moved, and that no other rule knows of this driver."""

import re
from collections.abc import Iterator
from functools import cache

from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_moved import Counts, Moved, MovedCounters
from wirespeed.facts.counters_places import BY_DRIVER
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

SHOWN = 6
"""So many counters are named."""
LEAST_SHARE = 1e-4
LEAST_COUNT = 10
"""From here on it is more than a stray frame for somebody else: at a loss of 1 in 10,000 one TCP
stream over 1 ms stays near 1.22 x 1460 bytes / (1 ms x 0.01), 1.4 Gb/s (Mathis et al., 1997)."""
LOST_PLACES = (
    Place.PORT_BUFFER, Place.PCIE, Place.NO_RECEIVE_BUFFER, Place.NO_MEMORY, Place.PHYSICAL,
    Place.FEC_UNCORRECTED, Place.TRANSMIT,
)  # fmt: skip
SHARE = "count / frames received and sent in the same time"


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.port.netdev
    if netdev is None:
        raise DoesNotApplyError("a port without a netdev has no counters here")
    observed = exam.host[MovedCounters].by_netdev[netdev]
    moved = known(observed, f"what moved of the counters of {netdev}")
    # Drivers count a frame that is too long among those of a wrong length, too.
    long = sum(one.count for one in moved if one.counts is Counts.TOO_LONG)
    lost = [
        one
        for one in moved
        if _is_of_loss(one)
        and not _is_known(exam, one)
        and not ("length" in one.name and one.count <= long)
    ]
    if lost and isinstance(observed, Known):
        yield _loss(exam, netdev, lost, observed.source)
    odd = [one for one in moved if one.counts is Counts.UNKNOWN and not _is_known(exam, one)]
    if odd and exam.question.measured_bps is not None and isinstance(observed, Known):
        yield _odd(exam, netdev, odd, observed.source)


def _loss(exam: PortExam, netdev: str, lost: list[Moved], source: str) -> Finding:
    frames = frames_of(exam, netdev)
    share = lost[0].count / frames if frames else None
    is_more = lost[0].count >= LEAST_COUNT and (share is None or share >= LEAST_SHARE)
    return exam.finding(
        Severity.RISK if is_more else Severity.NOTE,
        _seen(lost, source),
        so="by their names these count loss or errors; no rule knows what "
        f"{exam.port.driver or 'the driver'} counts there, so where it comes from is not known",
        remedies=(
            Remedy(
                text="look the name up in the driver's documentation or source, and read it again "
                "while the traffic runs and while it does not",
                commands=(ethtool_command("-S", netdev),),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        bounds=()
        if share is None
        else (
            Bound.of_share(
                Limit.AT_MOST, min(share, 1.0), "of the frames, if it counts lost frames", SHARE
            ),
        ),
        unpriced="how many frames passed meanwhile was not read; `ip -s link show` tells",
    )


def _odd(exam: PortExam, netdev: str, odd: list[Moved], source: str) -> Finding:
    return exam.finding(
        Severity.NOTE,
        _seen(odd, source),
        so="no rule knows what these count; beside a figure that is too low they are worth a look",
        remedies=(
            Remedy(
                text="look the name up in the driver's documentation or source",
                commands=(ethtool_command("-S", netdev),),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="what they count is not known",
    )


def _seen(moved: list[Moved], source: str) -> tuple[Evidence, ...]:
    texts = [f"{one.name} grew by {one.count}" for one in moved[:SHOWN]]
    more = len(moved) - SHOWN
    texts += [f"and {more} more"] if more > 0 else []
    return tuple(Evidence(found=text, source=source) for text in texts)


def _is_of_loss(one: Moved) -> bool:
    return one.counts in (Counts.LOSS, Counts.ERROR)


def _is_known(exam: PortExam, one: Moved) -> bool:
    """Whether a rule asks for it, or it grew no more than a place that one asks for.

    A card counts one frame at several places: mlx5's `rx_prio0_discards` is `rx_discards_phy` by
    priority.
    """
    if _asked_of(exam.port.driver or "").fullmatch(one.name.replace("#", "0")):
        return True
    counters = exam.host[Counters]
    known_places = (counters.delta(exam.port.netdev, place) for place in LOST_PLACES)
    return any(
        isinstance(delta, Known) and delta.value.count >= one.count > 0 for delta in known_places
    )


@cache
def _asked_of(driver: str) -> re.Pattern[str]:
    """Match the counters that a rule asks for."""
    rows = BY_DRIVER.get(driver, ())
    return re.compile("|".join(group for row in rows for group in row.groups) or "(?!)")


def frames_of(exam: PortExam, netdev: str) -> int | None:
    """Give the frames received and sent during the capture; None: they were not counted."""
    counters = exam.host[Counters]
    passed = [counters.delta(netdev, place) for place in (Place.RECEIVED, Place.SENT)]
    counts = [delta.value.count for delta in passed if isinstance(delta, Known)]
    return sum(counts) if len(counts) == len(passed) else None


RULE = PortRule(
    slug="counters.moved_unexplained",
    title="Counters of loss or errors grow, and no rule explains them",
    why="A driver has a counter for most of what goes wrong, and names it in words. The rules know "
    "the counters of the common drivers. A counter that grows and that they do not know is what "
    "an engineer would look up first.",
    source="https://docs.kernel.org/networking/statistics.html; the drivers' own ethtool sources; "
    "Mathis et al., The macroscopic behavior of the TCP congestion avoidance algorithm, 1997",
    price=f"at most: {SHARE}",
    explains=(Symptom.SEGMENTS_RESENT, Symptom.RDMA_LOSS, Symptom.LOW_FIGURE),
    check=_check,
)
