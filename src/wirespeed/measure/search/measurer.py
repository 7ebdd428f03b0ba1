"""What a search asks of the world: one load, once."""

from typing import Literal, Protocol

from wirespeed.model.frozen import Frozen

Purpose = Literal[
    "probe", "search", "confirm", "capacity", "ladder", "burst", "soak", "reset", "recovery",
    "line",
]  # fmt: skip


class Sample(Frozen):
    """What a search needs to know of one valid trial. Counts are primary."""

    trial: int
    """Number of the trial in the run."""
    intended_load_pps: float
    intended_seconds: float
    measured_seconds: float
    offered_frames: int
    missing_frames: int
    """Offered and not back intact at the right port."""
    predicted_capacity_pps: float | None = None
    """What the DUT's own cycles per packet allow its core; None where it does not say."""
    invalid_trials: int = 0
    """How many trials of this load were void before this one counted."""

    @property
    def loss_ratio(self) -> float:
        """Missing over offered; 1 when nothing was offered, for nothing sent proves nothing."""
        return self.missing_frames / self.offered_frames if self.offered_frames else 1.0

    @property
    def forwarding_rate_pps(self) -> float:
        """Frames per second that came back intact."""
        return (self.offered_frames - self.missing_frames) / self.measured_seconds


class Measurer(Protocol):
    """Offers a load and counts. Repeats void trials itself, a bounded number of times."""

    def measure(self, load_pps: float, seconds: float, purpose: Purpose) -> Sample:
        """One valid trial of `load_pps` (all streams together) for `seconds`.

        Raises MeasurementError when no valid trial could be had.
        """
        ...
