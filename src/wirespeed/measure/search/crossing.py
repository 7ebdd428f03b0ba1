"""Where zero loss should begin, read from the loss counts of trials that failed.

Above a cliff a DUT forwards its capacity: each failed trial is a measurement of it, far finer than
the one bit of pass or fail. Below the cliff of a soft knee only the loss ratio's shape tells.
"""

import math
from collections.abc import Sequence

from wirespeed.measure.search.measurer import Sample

STEEPEST = 5.0
"""Frames lost for each frame more that is offered: a DUT deep in livelock loses several."""


def missing_pps(sample: Sample) -> float:
    """Frames per second that the DUT did not forward."""
    return max(0, sample.missing_frames) / sample.measured_seconds


def implied_capacity_pps(sample: Sample) -> float:
    """Capacity that a cliff must have had in this failed trial."""
    return sample.intended_load_pps - missing_pps(sample)


def predict_cliff(failed: Sequence[Sample], relative_width: float) -> float:
    """Load at which the missing frames per second reach zero, by regula falsi.

    The failed trials near the lowest one (within 4 widths) are averaged, as each carries its own
    noise; of these only the longest, since a short trial's forwarding rate includes the frames
    that waited in queues. The slope comes from the next one above: 1 for a DUT that keeps
    forwarding its capacity, more for one that forwards less the more it is offered. Never above
    the lowest load that failed.
    """
    lowest = min(s.intended_load_pps for s in failed)
    near = [s for s in failed if s.intended_load_pps <= lowest * (1 + 4 * relative_width)]
    longest = max(s.intended_seconds for s in near)
    near = [s for s in near if s.intended_seconds >= longest]
    load = math.fsum(s.intended_load_pps for s in near) / len(near)
    missing = math.fsum(missing_pps(s) for s in near) / len(near)
    above = [s for s in failed if s.intended_load_pps > lowest * (1 + 4 * relative_width)]
    slope = 1.0
    if above:
        next_above = min(above, key=lambda s: s.intended_load_pps)
        slope = (missing_pps(next_above) - missing) / (next_above.intended_load_pps - load)
    return min(lowest, load - missing / min(STEEPEST, max(1.0, slope)))


def is_soft(failed: Sequence[Sample], relative_width: float) -> bool:
    """Whether the two lowest loads that failed, a width apart or more, show a knee and no cliff.

    Beyond a cliff each frame more that is offered is a frame more that is lost; on a knee far less.
    """
    by_load = {s.intended_load_pps: s for s in failed}
    if len(by_load) < 2:
        return False
    low, high = (by_load[load] for load in sorted(by_load)[:2])
    distance = high.intended_load_pps - low.intended_load_pps
    grows = missing_pps(high) - missing_pps(low)
    return distance >= relative_width * high.intended_load_pps and grows < distance / 2


def predict_knee(failed: Sequence[Sample]) -> float | None:
    """Load at which a soft knee begins, from the two lowest loads that failed; None if unclear.

    Loss near a knee grows faster than the load. With its square root taken as linear, a loss that
    grows linearly is predicted too low, which brackets the knee; the other error only fails again.
    """
    by_load = {s.intended_load_pps: s for s in failed}
    if len(by_load) < 2:
        return None
    low, high = (by_load[load] for load in sorted(by_load)[:2])
    low_root, high_root = math.sqrt(max(0.0, low.loss_ratio)), math.sqrt(max(0.0, high.loss_ratio))
    if low_root <= 0 or high_root <= low_root or no_less_loss(low, high):
        return None
    distance = high.intended_load_pps - low.intended_load_pps
    knee = low.intended_load_pps - low_root * distance / (high_root - low_root)
    return knee if knee > 0 else None


def no_less_loss(low: Sample, high: Sample) -> bool:
    """Whether the lower load lost no smaller a share than the higher one, by more than chance."""
    offered = low.offered_frames + high.offered_frames
    ratio = max(0, low.missing_frames + high.missing_frames) / max(1, offered)
    spread = math.sqrt(ratio / max(1, low.offered_frames) + ratio / max(1, high.offered_frames))
    return low.loss_ratio >= high.loss_ratio - 3 * spread
