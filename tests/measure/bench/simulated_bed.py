"""A testbed whose tester, DUT and machine are simulated: what was lost, and why, is known.

The DUT forwards at its capacity out of a queue. Tester and DUT are away at random; what a full
queue does not hold meanwhile is lost, and that is the machine's doing. Everything else that is lost
is injected, and is the DUT's own.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from trial_builder import TSC_HZ, stream

from wirespeed.measure.bench.dut import DutDescription
from wirespeed.measure.bench.testbed import BedTrial
from wirespeed.measure.bench.tester_protocol import (
    ProgressReply,
    ResultReply,
    TrialRequest,
    WindowReply,
)
from wirespeed.measure.bench.windowed_sum import sum_streams
from wirespeed.model.trial import Departure, DutReading, TesterHealth

GAP_LIMIT_S = 0.010
STALLED_MOST = 0.05


DUT = DutDescription(name="simulated", version="1", command_line="none", expect="macswap", cpu=None)


@dataclass
class Window:
    """What happens in one window; times in seconds, loss in frames."""

    tester_away: float = 0.0
    dut_away: float = 0.0
    drain_away: float = 0.0
    """The DUT's, after the last departure."""
    hidden_s: float = 0.0
    """The DUT's core was taken in the drain, without a word from the kernel."""
    lost: int = 0
    """Injected: the DUT's own."""
    reasons: tuple[str, ...] = ()
    """Why the tester itself voids it, beside its absence."""


@dataclass
class SimulatedBed:
    """See `Testbed`. `happens` says what happens in each window that is made."""

    capacity_pps: float
    queue_frames: int = 16384
    happens: Callable[[int, random.Random], Window] = lambda _number, _random: Window()
    seed: int = 1
    of_run: Callable[[TrialRequest], list[str]] = lambda _request: []
    """Why the tester voids the whole run."""
    watches: bool = True
    flood_pps: float | None = None
    """What the tester sends when it is asked for all that it can; None: twice the capacity."""
    window_s: float = 0.0
    made: list[tuple[TrialRequest, Window]] = field(default_factory=list)
    made_load: float = 0.0
    dut: DutDescription = DUT
    cpus: tuple[int, ...] = ()
    tester_details: tuple[tuple[str, str], ...] = ()
    shares_machine: bool = True
    streams: Iterable[tuple[int, int]] = ((0, 0),)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def run(
        self, request: TrialRequest, progress: Callable[[ProgressReply], None] | None = None
    ) -> BedTrial:
        del progress
        load = request.load_pps or self.flood_pps or 2 * self.capacity_pps
        self.made_load = load
        # A continuous trial is one window, and has none in its record.
        most = request.windows or 1
        self.window_s = request.seconds / most
        windows: list[WindowReply] = []
        # As the tester does: a window whose frames did not all come back ends the run.
        while len(windows) < most and not any(w.missing_frames for w in windows):
            windows.append(self._window(request, load))
        streams = sum_streams([window.streams for window in windows])
        reasons = self.of_run(request)
        result = ResultReply(
            v=1,
            id=1,
            event="result",
            number=request.number,
            measured_seconds=sum(window.measured_seconds for window in windows),
            drain_ns=windows[-1].drain_ns,
            streams=streams,
            windows=tuple(windows) if request.windows else (),
            latency=None,
            departure=Departure(
                burst_frames_max=32,
                interval_ns_intended=1.0,
                interval_ns_p50=1,
                interval_ns_p99=1,
                interval_ns_max=1,
            ),
            tester=TesterHealth(
                gap_ns_max=max(window.gap_ns_max for window in windows),
                gaps_over_limit=0,
                gap_limit_ns=round(GAP_LIMIT_S * 1e9),
                stalled_ns=sum(window.stalled_ns for window in windows),
                tsc_hz=TSC_HZ,
            ),
            silence_ns_max=0,
            silence_ns_sum=0,
            quiet_ns_max=0,
            quiet_ns_last=0,
            counters=(),
            state_bytes=0,
            valid=not reasons,
            invalid_reasons=tuple(reasons),
        )
        return BedTrial(result=result, dut=DutReading())

    def _window(self, request: TrialRequest, load: float) -> WindowReply:
        window = self.happens(len(self.made), self._random)
        self.made.append((request, window))
        seconds = self.window_s
        offered = round(load * seconds)
        # The schedule waits with the tester, and the DUT may rest meanwhile.
        backlog = max(0.0, (load - self.capacity_pps) * seconds)
        backlog += load * window.dut_away
        overflow = max(0, round(backlog - self.queue_frames))
        missing = min(offered, overflow + window.lost)
        left = min(self.queue_frames, backlog) if load > self.capacity_pps else 0
        reasons = [*window.reasons]
        if window.tester_away > GAP_LIMIT_S:
            reasons.append("tester.stalled: simulated")
        if window.tester_away > STALLED_MOST * seconds:
            reasons.append("tester.stalled_often: simulated")
        return WindowReply(
            measured_seconds=seconds,
            drain_ns=round(
                (left / self.capacity_pps + 30e-6 + window.drain_away + window.hidden_s) * 1e9
            ),
            streams=(stream(offered, offered - missing, refused_frames=overflow),),
            stalled_ns=round(window.tester_away * 1e9),
            gap_ns_max=round(window.tester_away * 1e9),
            watched_away_ns=(round(window.dut_away * 1e9),) if self.watches else (),
            watched_drain_away_ns=(round(window.drain_away * 1e9),) if self.watches else (),
            invalid_reasons=tuple(reasons),
        )

    def close(self) -> None:
        """Nothing runs."""
