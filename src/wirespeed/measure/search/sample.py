"""A trial as a search sees it: Trial -> Sample. Pure."""

from wirespeed.measure.search.measurer import Sample
from wirespeed.model.trial import Trial
from wirespeed.model.windows import Windows

LATE_SHARE_MOST = 0.01
"""Of a trial's frames: a DUT that is slower than the load by more is late in every window. Fewer
are the machine's: it takes a core for a millisecond without a word. Their time is counted all the
same, so that no rate is too high by it."""


def sample_of(trial: Trial) -> Sample:
    """Give the counts that decide whether the load passed."""
    reading = trial.dut_reading
    cycles = reading.busy_cycles_per_packet if reading else None
    windows = trial.windows
    return Sample(
        trial=trial.number,
        intended_load_pps=trial.intended_load_pps,
        intended_seconds=trial.intended_seconds,
        # While the tester's loop stood still nothing was sent and the DUT could rest: a rate that
        # is proven counts that time.
        # And while a window drains, a queue gives back what it took in beyond the DUT's own rate.
        measured_seconds=trial.measured_seconds
        + trial.tester.stalled_ns / 1e9
        + (windows.drain_seconds if windows else 0),
        offered_frames=trial.offered_frames,
        missing_frames=trial.missing_frames + late_frames(trial),
        predicted_capacity_pps=trial.tester.tsc_hz / cycles if cycles else None,
    )


def late_frames(trial: Trial) -> int:
    """Frames that make a load fail, as they came back later than from a DUT that keeps up."""
    windows: Windows | None = trial.windows
    if windows is None or windows.late_frames <= LATE_SHARE_MOST * trial.offered_frames:
        return 0
    return windows.late_frames


def counted_pps(sample: Sample) -> float:
    """Load offered, never more than was intended: pacing errors must not flatter a DUT."""
    return min(sample.intended_load_pps, sample.offered_frames / sample.measured_seconds)
