"""A testbed that is described, not there: a DUT with a cliff, strict about what it is asked."""

from collections.abc import Callable, Sequence

from trial_builder import TSC_HZ, stream

from wirespeed.measure.bench.dut import DutDescription
from wirespeed.measure.bench.testbed import BedTrial
from wirespeed.measure.bench.tester_protocol import ProgressReply, ResultReply, TrialRequest
from wirespeed.model.error import MeasurementError
from wirespeed.model.trial import Departure, DutReading, TesterHealth

TESTER_PPS = 20e6


class DescribedBed:
    """Passes `capacity_pps` without loss, loses all beyond it; `void` names trials to make void.

    The tester sends 20 Mpps into a full ring, but no more than `reach_pps` of what it is asked for.

    `dies_at` is the trial, counted from 1 over all beds that share `made`, in which the DUT dies.
    """

    def __init__(
        self,
        name: str = "described",
        capacity_pps: float | Callable[[TrialRequest], float] = 1e6,
        *,
        void: Callable[[TrialRequest], Sequence[str]] = lambda _: (),
        silence_ns: int = 0,
        shares_machine: bool = True,
        reach_pps: float = TESTER_PPS,
        made: list[TrialRequest] | None = None,
        dies_at: int | None = None,
    ) -> None:
        self._name, self._capacity = name, capacity_pps
        self._void, self._silence_ns = void, silence_ns
        self._reach, self._dies_at = reach_pps, dies_at
        self.shares_machine = shares_machine
        self.made = made if made is not None else []
        self.closed = False

    @property
    def dut(self) -> DutDescription:
        return DutDescription(
            name=self._name, version="1", command_line="", expect="as-sent", cpu=None
        )

    quiet_ns: tuple[int, int] = (0, 0)
    cpus: tuple[int, ...] = ()
    tester_details: tuple[tuple[str, str], ...] = (("DPDK", "described"),)
    streams: tuple[tuple[int, int], ...] = ((0, 0),)

    def run(
        self, request: TrialRequest, progress: Callable[[ProgressReply], None] | None = None
    ) -> BedTrial:
        assert not self.closed, "a trial on a closed testbed"
        assert request.number not in [r.number for r in self.made], "a trial number twice"
        if self._dies_at == len(self.made) + 1:
            raise MeasurementError("dut.died", where=self._name, found="described death")
        self.made.append(request)
        asked = request.load_pps or TESTER_PPS
        offered = round(min(asked, TESTER_PPS) * request.seconds)
        capacity = self._capacity
        forwards = capacity(request) if callable(capacity) else capacity
        passed = min(offered, round(forwards * request.seconds))
        reasons = tuple(self._void(request))
        if request.load_pps is not None and request.load_pps > self._reach:
            offered = passed = round(self._reach * request.seconds)
            reasons = ("tester.too_slow: described",)
        result = ResultReply(
            v=1,
            id=1,
            event="result",
            number=request.number,
            measured_seconds=request.seconds,
            streams=(stream(offered, passed, refused_frames=offered - passed),),
            latency=None,
            departure=Departure(
                burst_frames_max=request.burst_frames,
                interval_ns_intended=1.0,
                interval_ns_p50=1,
                interval_ns_p99=1,
                interval_ns_max=1,
            ),
            tester=TesterHealth(
                gap_ns_max=0,
                gaps_over_limit=0,
                gap_limit_ns=10_000_000,
                stalled_ns=0,
                tsc_hz=TSC_HZ,
            ),
            silence_ns_max=self._silence_ns,
            silence_ns_sum=self._silence_ns,
            quiet_ns_max=self.quiet_ns[0],
            quiet_ns_last=self.quiet_ns[1],
            counters=(),
            state_bytes=0,
            valid=not reasons,
            invalid_reasons=reasons,
        )
        return BedTrial(result=result, dut=DutReading())

    def close(self) -> None:
        self.closed = True
