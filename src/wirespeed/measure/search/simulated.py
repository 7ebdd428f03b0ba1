"""DUTs that behave as real ones do, from a seed: a cliff, noise, a knee, livelock, stalls, a floor.

Everything is drawn from `random.Random(seed)` in the order of the trials; seconds are simulated.
The truth is known, so a search can be held against it.
"""

import math
import random
from typing import Annotated

from pydantic import Field, model_validator

from wirespeed.measure.search.measurer import Purpose, Sample
from wirespeed.model.frozen import Frozen

NORMAL_FROM = 50.0
"""Above this mean a Poisson count is drawn as a rounded normal one."""


class SimulatedDut(Frozen):
    """What a DUT does with a load. Loss mechanisms are independent and add up."""

    capacity_pps: Annotated[float, Field(gt=0)]
    """Frames per second that its core forwards, as the median over trials."""
    capacity_sigma: Annotated[float, Field(ge=0, lt=0.1)] = 0.0
    """Relative standard deviation of the capacity from trial to trial (normal)."""
    queue_frames: Annotated[int, Field(ge=0)] = 0
    """Frames that wait in its rings: a trial may overdraw the capacity by this many."""
    livelock_slope: Annotated[float, Field(ge=0)] = 0.0
    """Frames of forwarding lost to each frame offered above capacity (receive livelock: Mogul and
    Ramakrishnan 1997); forwarding never falls below a tenth of the capacity."""
    knee_pps: Annotated[float, Field(gt=0)] | None = None
    """Load from which random loss begins, growing with the square of the distance."""
    knee_loss_ratio: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """That loss where the load reaches the capacity."""
    loss_floor: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share lost at random at any load."""
    stalls_per_second: Annotated[float, Field(ge=0)] = 0.0
    """How often the DUT stops altogether, at any load."""
    stall_seconds: Annotated[float, Field(ge=0)] = 0.0
    """How long each time; what arrives meanwhile is lost."""
    prediction_bias: float | None = None
    """Relative error of the capacity that its cycles per packet predict; None: it does not say."""

    @model_validator(mode="after")
    def _knee_is_below_the_cliff(self) -> "SimulatedDut":
        if self.knee_pps is not None and self.knee_pps >= self.capacity_pps:
            raise ValueError(f"knee {self.knee_pps} is not below capacity {self.capacity_pps}")
        return self

    def knee_loss_at(self, load_pps: float) -> float:
        """Share that the knee loses at this load, as its expectation."""
        if self.knee_pps is None or load_pps <= self.knee_pps:
            return 0.0
        distance = (load_pps - self.knee_pps) / (self.capacity_pps - self.knee_pps)
        return self.knee_loss_ratio * min(1.0, distance) ** 2

    def truth_pps(self, confirm_seconds: float) -> float:
        """Load at which a trial of that duration loses nothing with probability one half.

        Of what depends on the load: cliff, queue, noise of the capacity and knee. Stalls and the
        floor strike at any load; a DUT with a floor has this as its knee and no throughput. For a
        cliff without noise this is capacity + queue / duration, exactly.
        """
        low, high = 0.0, 2 * (self.capacity_pps + self.queue_frames / confirm_seconds)
        for _ in range(100):
            middle = (low + high) / 2
            if self._zero_loss_probability(middle, confirm_seconds) >= 0.5:
                low = middle
            else:
                high = middle
        return low

    def _zero_loss_probability(self, load_pps: float, seconds: float) -> float:
        needed = load_pps - self.queue_frames / seconds / (1 + self.livelock_slope)
        if self.capacity_sigma:
            z = (needed / self.capacity_pps - 1) / self.capacity_sigma
            holds = math.erfc(z / math.sqrt(2)) / 2
        else:
            holds = 1.0 if needed <= self.capacity_pps else 0.0
        return holds * math.exp(-load_pps * seconds * self.knee_loss_at(load_pps))


class SimulatedMeasurer:
    """A Measurer in front of a simulated DUT. The same seed and calls give the same counts."""

    def __init__(self, dut: SimulatedDut, *, seed: int, confirm_seconds: float = 60.0) -> None:
        self.dut, self.confirm_seconds = dut, confirm_seconds
        self._random = random.Random(seed)  # noqa: S311 - a simulation, not a secret
        self.samples: list[Sample] = []

    @property
    def truth_pps(self) -> float:
        """`SimulatedDut.truth_pps` for the confirming trials of this measurer."""
        return self.dut.truth_pps(self.confirm_seconds)

    def measure(self, load_pps: float, seconds: float, purpose: Purpose) -> Sample:  # noqa: ARG002
        """One valid trial: a perfect tester, an imperfect DUT."""
        dut = self.dut
        offered = math.floor(load_pps * seconds)
        capacity = dut.capacity_pps * (1 + dut.capacity_sigma * self._random.gauss(0, 1))
        if load_pps > capacity:
            livelocked = capacity - dut.livelock_slope * (load_pps - capacity)
            capacity = max(capacity / 10, livelocked)
        overflow = max(0, offered - math.floor(capacity * seconds) - dut.queue_frames)
        at_random = self._poisson(offered * (dut.knee_loss_at(load_pps) + dut.loss_floor))
        stalls = self._poisson(dut.stalls_per_second * seconds)
        stalled = math.floor(stalls * min(dut.stall_seconds, seconds) * load_pps)
        sample = Sample(
            trial=len(self.samples) + 1,
            intended_load_pps=load_pps,
            intended_seconds=seconds,
            measured_seconds=seconds,
            offered_frames=offered,
            missing_frames=min(offered, overflow + at_random + stalled),
            predicted_capacity_pps=(
                None
                if dut.prediction_bias is None
                else dut.capacity_pps * (1 + dut.prediction_bias)
            ),
        )
        self.samples.append(sample)
        return sample

    def _poisson(self, mean: float) -> int:
        """Draw a Poisson count (Knuth's product method, a rounded normal for large means)."""
        if mean <= 0:
            return 0
        if mean > NORMAL_FROM:
            return max(0, round(self._random.gauss(mean, math.sqrt(mean))))
        limit, count, product = math.exp(-mean), 0, self._random.random()
        while product > limit:
            count += 1
            product *= self._random.random()
        return count
