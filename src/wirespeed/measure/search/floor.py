"""A loss floor: a loss ratio that lowering the load does not remove.

A bad cable, a corrupting hop or a host that steals its core loses the same share at every load.
Searching for zero loss below such a floor only finds the load at which a trial is too short to
lose a frame. So it is recognised from the counts and said.
"""

import math
from collections.abc import Iterable

from wirespeed.measure.search.measurer import Sample
from wirespeed.model.frozen import Frozen

SPAN = 8.0
"""Loads that show a floor are at least this factor apart: queues and knees end well within it."""
DISTINCT_LOADS = 3
EVIDENCE_FRAMES = 10
"""Frames that were lost at the loads of the lower half of the span, at least."""
SIGMAS = 4.0
"""Of a Poisson count: a true floor is missed once in 16000 loads for this."""
MAX_RATIO = 0.1
"""A DUT that loses more than this at any load has no floor, it gives no service."""
KNEE_FACTOR = 2.0
"""The knee is where the loss ratio is this multiple of the floor."""


class LossFloor(Frozen):
    """What the trials say about a floor."""

    loss_ratio: float
    """Pooled over all trials that agree with it."""
    knee_load_pps: float
    """Highest load that was tried and lost no more than `knee_loss_ratio`, with every load below
    it agreeing."""
    knee_loss_ratio: float


def recognise_loss_floor(samples: Iterable[Sample]) -> LossFloor | None:
    """Find the floor that these trials show, or None.

    Loads are taken from the lowest up for as long as each load's loss agrees with the pooled
    ratio of those below it. They show a floor when they span a factor of 8, are three or more,
    and lost enough frames at the low end to tell a ratio from chance. A load without loss is
    evidence against a floor as soon as the ratio leads one to expect four standard deviations.
    """
    by_load: dict[float, tuple[int, int]] = {}
    for sample in samples:
        offered, lost = by_load.get(sample.intended_load_pps, (0, 0))
        by_load[sample.intended_load_pps] = (
            offered + sample.offered_frames,
            lost + max(0, sample.missing_frames),
        )
    loads = sorted(load for load, (offered, _) in by_load.items() if offered)
    agreeing: list[float] = []
    offered_sum = lost_sum = 0
    for load in loads:
        offered, lost = by_load[load]
        pooled = (lost_sum + lost) / (offered_sum + offered)
        if agreeing and not (
            same_ratio(offered, lost, pooled) and same_ratio(offered_sum, lost_sum, pooled)
        ):
            break
        agreeing.append(load)
        offered_sum, lost_sum = offered_sum + offered, lost_sum + lost
    if not lost_sum or len(agreeing) < DISTINCT_LOADS or agreeing[-1] < SPAN * agreeing[0]:
        return None
    low_end = [load for load in agreeing if load <= agreeing[-1] / math.sqrt(SPAN)]
    if sum(by_load[load][1] for load in low_end) < EVIDENCE_FRAMES:
        return None
    ratio = lost_sum / offered_sum
    if ratio > MAX_RATIO:
        return None
    return LossFloor(
        loss_ratio=ratio, knee_load_pps=agreeing[-1], knee_loss_ratio=min(1.0, KNEE_FACTOR * ratio)
    )


def same_ratio(offered_frames: int, lost_frames: int, loss_ratio: float) -> bool:
    """Whether this count may come from that ratio: by chance, or within a factor of two.

    The factor is for losses that come in bursts, whose counts spread wider than Poisson's.
    """
    expected = offered_frames * loss_ratio
    by_chance = abs(lost_frames - expected) <= SIGMAS * math.sqrt(expected)
    return by_chance or expected / KNEE_FACTOR <= lost_frames <= expected * KNEE_FACTOR
