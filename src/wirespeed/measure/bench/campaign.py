"""A run: one search for every DUT and frame mix, each trial on disk before the next one starts.

Searches are numbered in the order of the plan. One that has an outcome in the record is not made
again; one that has trials but no outcome is taken up where it stopped.
"""

from collections.abc import Callable, Sequence
from statistics import median_low
from typing import Protocol

from wirespeed.host.clock import monotonic_s
from wirespeed.measure.bench.further import measure_further
from wirespeed.measure.bench.plan import Plan
from wirespeed.measure.bench.testbed import Testbed
from wirespeed.measure.bench.tester_protocol import ProgressReply
from wirespeed.measure.bench.trial_maker import (
    NEVER_VALID,
    BeyondTesterError,
    TrialMaker,
    TrialSettings,
)
from wirespeed.measure.search.outcome import build_outcome, unproven_outcome
from wirespeed.measure.search.search import Goal, Observer, SearchResult, search
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.trial import Bursts, Outcome, Record, Started, Trial

CAPACITY_SECONDS = 0.1
STEP_BACK = 0.9
"""From a load that the tester could offer on average to one that it can hold."""
MAX_CEILINGS = 8
DOUBTS = 3
"""A machine that a DUT shares may be slow for a second, and then each load fails."""
OF_SEARCH = ("probe", "search", "confirm", "capacity")
"""Purposes of a search's own trials."""


class Beds(Protocol):
    """Makes a testbed for a DUT by name, when the first trial needs it."""

    def __call__(self, dut: str) -> Testbed:
        """Build it; the campaign closes it."""
        ...


class Listener(Protocol):
    """Receives the progress of a campaign, for a display."""

    def search_started(self, number: int, dut: str, mix: FrameMix) -> None:
        """The search of this number begins, or goes on."""
        ...

    def search_observer(self) -> Observer:
        """Give the observer that is called before each trial."""
        ...

    def trial_progress(self, progress: ProgressReply) -> None:
        """Once a second while a trial runs."""
        ...

    def trial_ended(self, trial: Trial) -> None:
        """A trial was made and is on disk."""
        ...

    def search_ended(self, outcome: Outcome) -> None:
        """A search came to an outcome."""
        ...


class Campaign:
    """Makes a plan's searches. `record` must have the record on disk when it returns."""

    def __init__(
        self,
        plan: Plan,
        beds: Beds,
        record: Callable[[Record], None],
        listener: Listener,
        recorded: Sequence[Record] = (),
    ) -> None:
        self._plan, self._beds, self._listener = plan, beds, listener
        self._write = record
        self._trials = [r for r in recorded if isinstance(r, Trial)]
        self._outcomes = {r.search: r for r in recorded if isinstance(r, Outcome)}
        self._bursts = {r.search for r in recorded if isinstance(r, Bursts)}
        self._numbers = max((t.number for t in self._trials), default=0)
        self._requests = 0
        self._bed: Testbed | None = None
        self._bed_dut = ""

    def run(self) -> list[Outcome]:
        """Make what the record does not have yet; give all outcomes in order.

        Raises MeasurementError or InputError; what was measured until then is on disk.
        """
        try:
            for number, dut, mix in self._plan.searches:
                if number not in self._outcomes:
                    self._listener.search_started(number, dut, mix)
                    self._outcomes[number] = self._search(number, dut, mix)
                    self._write(self._outcomes[number])
                    self._listener.search_ended(self._outcomes[number])
                self._after(number, dut, mix)
        finally:
            self._close_bed()
        return [self._outcomes[number] for number, _, _ in self._plan.searches]

    def _after(self, number: int, dut: str, mix: FrameMix) -> None:
        """Measure what is asked for beside the throughput, as far as the record lacks it."""
        plan = self._plan
        found = measure_further(
            plan.further,
            self._outcomes[number],
            # By the plan's name of the DUT: its own may be another.
            lambda purpose: self._maker(number, dut, mix, purpose),
            highest_pps=plan.highest_load_pps(mix),
            seconds=plan.confirm_seconds,
        )
        if found is not None and number not in self._bursts:
            self._write(found)

    def _maker(self, number: int, dut: str, mix: FrameMix, *purposes: str) -> TrialMaker:
        """Give what makes trials; those of these purposes are answered from the record."""
        recorded = [t for t in self._trials if t.search == number and t.purpose in purposes]
        return TrialMaker(
            lambda: self._bed_for(dut),
            TrialSettings(
                search=number,
                mix=mix,
                flows=self._plan.flows,
                burst_frames=self._plan.burst_frames,
                windowed=self._plan.windowed,
                # This search repeats the last one only, the others have no more.
                confirmations=1 if self._plan.method == "informed" else self._plan.confirmations,
                bounds=self._plan.bounds,
            ),
            next_number=self._next_number,
            next_request=self._next_request if self._plan.windowed else None,
            record=self._keep,
            recorded=recorded,
            progress=self._listener.trial_progress,
        )

    def _search(self, number: int, dut: str, mix: FrameMix) -> Outcome:
        started = monotonic_s()
        maker = self._maker(number, dut, mix, *OF_SEARCH)
        try:
            goal, result = self._within_reach(maker, mix, self._proven_before(dut, mix))
        except MeasurementError as error:
            if error.what != NEVER_VALID:
                raise
            # The machine is too noisy for this load; the next search may still succeed.
            return unproven_outcome(
                self._plan.method,
                self._plan.relative_width,
                maker.trials,
                why=f"{error.what} {error.where}: {error.found}",
                seconds=monotonic_s() - started + maker.recorded_seconds,
            )
        return build_outcome(
            result,
            goal,
            maker.trials,
            link_load_pps=self._plan.link_load_pps(mix),
            asked_load_pps=self._plan.max_load_pps,
            seconds=monotonic_s() - started + maker.recorded_seconds,
        )

    def _within_reach(
        self, maker: TrialMaker, mix: FrameMix, proven_pps: float | None
    ) -> tuple[Goal, SearchResult]:
        """Search, and again with another ceiling where that was beyond the tester, or was passed.

        What the tester sends into a full ring costs it less than what comes back and is judged, so
        its best rate alone does not say what it can offer.
        """
        plan = self._plan
        capacity: Trial | None
        if plan.overloads or plan.max_load_pps is None:
            capacity = maker.capacity(CAPACITY_SECONDS)
            reach = capacity.offered_load_pps
        else:
            capacity, reach = None, plan.max_load_pps
        passed: tuple[Goal, SearchResult] | None = None
        for _ in range(MAX_CEILINGS):
            goal = self._goal(mix, capacity, reach, proven_pps)
            try:
                result = search(plan.method, maker, goal, self._listener.search_observer())
            except BeyondTesterError as error:
                if passed is not None:
                    break
                reach = min(reach, error.offered_load_pps) * STEP_BACK
                continue
            if passed is not None and result.throughput_pps is None:
                break
            passed = goal, result
            # A ceiling that was passed says what the tester could send, and nothing of the DUT.
            if not plan.windowed or result.verdict != "ceiling passed" or goal.max_load_pps < reach:
                break
            reach, proven_pps = reach / STEP_BACK, result.throughput_pps
        if passed is not None:
            return passed
        raise MeasurementError(
            NEVER_VALID,
            where=f"{maker.trials[-1].dut}, up to {reach:.0f} pps",
            found=f"{MAX_CEILINGS} upper limits of the load, each more than the tester could send",
            so="the tester's machine slows down faster than the search can follow",
            next="use an idle machine, or a lower --max-load",
        )

    def _goal(
        self, mix: FrameMix, capacity: Trial | None, reach: float, proven_pps: float | None
    ) -> Goal:
        plan = self._plan
        # Of large frames less can be offered than was asked for all; of the smallest it is a slip.
        if (
            plan.max_load_pps is not None
            and capacity is not None
            and plan.max_load_pps > capacity.offered_load_pps
            and mix == plan.smallest_mix
        ):
            raise InputError(
                "load.too_high",
                where=f"{capacity.dut}, frames of {mix.label} bytes",
                found=f"the highest load is set to {plan.max_load_pps:g} pps, but trial "
                f"{capacity.number} offered {capacity.offered_load_pps:.0f} pps at most",
                so="the search could never reach it",
                next="give a lower --max-load, or none: then the tester's own limit is the "
                "highest load",
            )
        bounds = [reach]
        link = plan.link_load_pps(mix)
        bounds += [bound for bound in (link, plan.max_load_pps) if bound is not None]
        most = min(bounds)
        return Goal(
            max_load_pps=most,
            min_load_pps=most / 1000,
            relative_width=plan.relative_width,
            trial_seconds=plan.trial_seconds,
            confirm_seconds=plan.confirm_seconds,
            confirmations=plan.confirmations,
            doubts=DOUBTS if plan.windowed else 0,
            expected_load_pps=proven_pps or (capacity and (_expected_pps(capacity) or None)),
        )

    def _proven_before(self, dut: str, mix: FrameMix) -> float | None:
        """What earlier searches of the same DUT and mix proved: where the next one looks first."""
        same = [n for n, *searched in self._plan.searches if searched == [dut, mix]]
        outcomes = [self._outcomes[n] for n in same if n in self._outcomes]
        proven = [o.throughput_pps for o in outcomes if o.throughput_pps is not None]
        return median_low(proven) if proven else None

    def _keep(self, trial: Trial) -> None:
        self._write(trial)
        self._listener.trial_ended(trial)

    def _next_number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _next_request(self) -> int:
        self._requests += 1
        return self._requests

    def _bed_for(self, dut: str) -> Testbed:
        if self._bed is None or self._bed_dut != dut:
            self._close_bed()
            self._bed, self._bed_dut = self._beds(dut), dut
            self._write(_started(self._bed))
        return self._bed

    def _close_bed(self) -> None:
        bed, self._bed = self._bed, None
        if bed is not None:
            bed.close()


def _expected_pps(capacity: Trial) -> float:
    """Give what the DUT forwarded in the time in which it had its core, where that is known."""
    forwarding_rate_pps, reading = capacity.forwarding_rate_pps, capacity.dut_reading
    if capacity.windows is None or reading is None or not reading.cpu_run_ns:
        return forwarding_rate_pps
    drains = capacity.windows.drain_seconds
    return (
        forwarding_rate_pps
        * (capacity.measured_seconds + drains)
        / (reading.cpu_run_ns / 1e9 + drains)
    )


def _started(bed: Testbed) -> Started:
    dut = bed.dut
    details = {"version": dut.version, "command line": dut.command_line, "frames": dut.expect}
    details.update(dut.details)
    return Started(
        dut=dut.name,
        details={label: value for label, value in details.items() if value},
        tester=dict(bed.tester_details),
    )
