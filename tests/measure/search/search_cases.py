"""Measurers and goals that several tests of the searches share."""

from collections.abc import Callable

from hypothesis import strategies as st

from wirespeed.measure.search.measurer import Purpose, Sample
from wirespeed.measure.search.search import Goal, Method
from wirespeed.measure.search.simulated import SimulatedDut

METHODS: tuple[Method, ...] = ("rfc2544", "mlrsearch", "informed")
CEILING_PPS, LOWEST_PPS = 10e6, 10e3


def goal(**settings: float | int | None) -> Goal:
    return Goal.model_validate(
        {"max_load_pps": CEILING_PPS, "min_load_pps": LOWEST_PPS, **settings}
    )


class Scripted:
    """Loses what the test says, from load, seconds and the number of the trial."""

    def __init__(
        self,
        missing: Callable[[float, float, int], int],
        *,
        offered_share: float = 1.0,
        invalid: int = 0,
        predicted: float | None = None,
    ) -> None:
        self.missing, self.offered_share = missing, offered_share
        self.invalid, self.predicted = invalid, predicted
        self.samples: list[Sample] = []
        self.purposes: list[Purpose] = []

    def measure(self, load_pps: float, seconds: float, purpose: Purpose) -> Sample:
        number = len(self.samples) + 1
        sample = Sample(
            trial=number,
            intended_load_pps=load_pps,
            intended_seconds=seconds,
            measured_seconds=seconds,
            offered_frames=int(load_pps * seconds * self.offered_share),
            missing_frames=self.missing(load_pps, seconds, number),
            predicted_capacity_pps=self.predicted,
            invalid_trials=self.invalid,
        )
        self.samples.append(sample)
        self.purposes.append(purpose)
        return sample


def cliff(capacity_pps: float) -> Callable[[float, float, int], int]:
    return lambda load, seconds, _: max(0, int(load * seconds) - int(capacity_pps * seconds))


def duts(*, with_floor: bool = True) -> st.SearchStrategy[SimulatedDut]:
    """Any mixture of what a DUT can do wrong, with capacities inside and outside the limits."""

    def build(
        capacity: float,
        sigma: float,
        queue: int,
        livelock: float,
        knee: float | None,
        knee_loss: float,
        floor: float,
        stalls: float,
        bias: float | None,
    ) -> SimulatedDut:
        return SimulatedDut(
            capacity_pps=capacity,
            capacity_sigma=sigma,
            queue_frames=queue,
            livelock_slope=livelock,
            knee_pps=None if knee is None else knee * capacity,
            knee_loss_ratio=knee_loss,
            loss_floor=floor,
            stalls_per_second=stalls,
            stall_seconds=1e-3,
            prediction_bias=bias,
        )

    return st.builds(
        build,
        capacity=st.floats(2e3, 2e7),
        sigma=st.sampled_from([0.0, 1e-4, 1e-3, 1e-2]),
        queue=st.sampled_from([0, 1024, 16384]),
        livelock=st.sampled_from([0.0, 0.3, 2.0]),
        knee=st.one_of(st.none(), st.floats(0.1, 0.99)),
        knee_loss=st.sampled_from([1e-5, 1e-3, 1e-1]),
        floor=st.sampled_from([0.0, 0.0, 0.0, 1e-5, 1e-3] if with_floor else [0.0]),
        stalls=st.sampled_from([0.0, 0.0, 1e-3, 1e-1]),
        bias=st.one_of(st.none(), st.floats(-0.3, 0.3)),
    )
