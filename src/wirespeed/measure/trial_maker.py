"""Makes the trials of one search: numbers them, keeps every one, repeats the void ones.

A search sees only valid trials. A void one (tester or machine at fault) is made again, at most
`MAX_REPEATS` times; every one is recorded, and how many there were is in the result.
"""

from collections.abc import Callable, Sequence

from wirespeed.host.clock import utc_now
from wirespeed.measure.limit import dut_core_taken
from wirespeed.measure.measurer import Purpose, Sample
from wirespeed.measure.testbed import BedTrial, Testbed
from wirespeed.measure.tester_protocol import ProgressReply, StreamRequest, TrialRequest
from wirespeed.model.error import MeasurementError
from wirespeed.model.frozen import Frozen
from wirespeed.model.trial import FrameMix, Trial

MAX_REPEATS = 12
MAX_REPEATS_FOR_DUT = 4
"""Of those, how often a loss is put down to the DUT's core having been taken away. A machine that
takes it in every trial is part of what was measured, and then the loss counts."""
NEVER_VALID = "trial.never_valid"
TOO_SLOW = "tester.too_slow"
TOO_SLOW_TWICE = 2
"""Void trials in a row of one load, for this reason alone, after which it is beyond the tester."""
DUT_CORE_TAKEN = "machine.dut_core_taken"


class BeyondTesterError(MeasurementError):
    """The tester cannot offer the load; `offered_load_pps` is what it could."""

    def __init__(self, trial: Trial) -> None:
        self.offered_load_pps = trial.offered_load_pps
        super().__init__(
            TOO_SLOW,
            where=f"{trial.dut}, {trial.intended_load_pps:.0f} pps",
            found="; ".join(trial.invalid_reasons),
            so="no higher load can be asked of it",
            next="more tester lcores, or a lower --max-load",
        )


class TrialSettings(Frozen):
    """What all trials of one search share."""

    search: int
    mix: FrameMix
    flows: int
    burst_frames: int = 32


class TrialMaker:
    """See `Measurer`. `recorded` are trials of this search from an earlier run, in their order.

    A search is deterministic, so it asks for the recorded loads again, one after the other; they
    are answered from the record, and only then is anything measured.
    """

    def __init__(
        self,
        bed: Callable[[], Testbed],
        settings: TrialSettings,
        *,
        next_number: Callable[[], int],
        record: Callable[[Trial], None],
        recorded: Sequence[Trial] = (),
        progress: Callable[[ProgressReply], None] | None = None,
    ) -> None:
        self._bed, self._settings = bed, settings
        self._next_number, self._record = next_number, record
        self._recorded = list(recorded)
        self._progress = progress
        self.trials: list[Trial] = []
        self.recorded_seconds = 0.0
        """Measured time of those that were answered from the record."""

    def measure(self, load_pps: float, seconds: float, purpose: Purpose) -> Sample:
        """One valid trial. Raises MeasurementError `trial.never_valid`, BeyondTesterError."""
        trial, invalid = self._valid(load_pps, seconds, purpose)
        return _sample(trial, invalid)

    def capacity(self, seconds: float) -> Trial:
        """One valid trial at all that the tester can send. Raises as `measure`."""
        return self._valid(None, seconds, "capacity")[0]

    def _valid(self, load_pps: float | None, seconds: float, purpose: Purpose) -> tuple[Trial, int]:
        why: tuple[str, ...] = ()
        taken = too_slow = 0
        for invalid in range(MAX_REPEATS + 1):
            trial = self._from_record(load_pps, seconds, purpose)
            if trial is None:
                trial = self._make(load_pps, seconds, purpose, forgive=taken < MAX_REPEATS_FOR_DUT)
                self._record(trial)
            self.trials.append(trial)
            if trial.valid:
                return trial, invalid
            why = trial.invalid_reasons
            taken += _all_say(why, DUT_CORE_TAKEN)
            too_slow = too_slow + 1 if _all_say(why, TOO_SLOW) else 0
            if too_slow == TOO_SLOW_TWICE:
                raise BeyondTesterError(trial)
        load = "as much as it can" if load_pps is None else f"{load_pps:.0f} pps"
        raise MeasurementError(
            NEVER_VALID,
            where=f"{self.trials[-1].dut}, {load} for {seconds:g} s",
            found=f"{MAX_REPEATS + 1} trials, all void; the last: {'; '.join(why)}",
            so="tester or machine cannot do this load, and nothing follows about the DUT",
            next="use shorter trials, a quieter machine, or a lower --max-load",
        )

    def _from_record(
        self, load_pps: float | None, seconds: float, purpose: Purpose
    ) -> Trial | None:
        if not self._recorded:
            return None
        trial = self._recorded[0]
        load = trial.intended_load_pps if load_pps is not None else None
        if (load, trial.intended_seconds, trial.purpose) != (load_pps, seconds, purpose):
            # Another release may search otherwise; what does not fit is measured anew.
            self._recorded.clear()
            return None
        self.recorded_seconds += trial.measured_seconds
        return self._recorded.pop(0)

    def _make(
        self, load_pps: float | None, seconds: float, purpose: Purpose, *, forgive: bool
    ) -> Trial:
        bed, settings = self._bed(), self._settings
        number, started_at = self._next_number(), utc_now()
        made = bed.run(
            TrialRequest(
                number=number,
                mix=settings.mix,
                streams=tuple(StreamRequest(tx_port=t, rx_port=r) for t, r in bed.streams),
                flows=settings.flows,
                load_pps=load_pps,
                seconds=seconds,
                burst_frames=settings.burst_frames,
                expect=bed.dut.expect,
                cpus=bed.cpus,
            ),
            self._progress,
        )
        trial = _trial(made, settings, bed.dut.name, number, started_at, load_pps, seconds, purpose)
        # A capacity trial loses by intention; what its DUT was doing is no question there.
        asked = bed.shares_machine and forgive and purpose != "capacity"
        taken = dut_core_taken(trial) if asked else ()
        if not taken:
            return trial
        reasons = (*trial.invalid_reasons, *(f"{DUT_CORE_TAKEN}: {e}" for e in taken))
        return trial.model_copy(update={"valid": False, "invalid_reasons": reasons})


def _all_say(reasons: Sequence[str], slug: str) -> bool:
    return all(reason.startswith(slug) for reason in reasons)


def _sample(trial: Trial, invalid: int) -> Sample:
    reading = trial.dut_reading
    cycles = reading.busy_cycles_per_packet if reading else None
    return Sample(
        trial=trial.number,
        intended_load_pps=trial.intended_load_pps,
        intended_seconds=trial.intended_seconds,
        # While the tester's loop stood still nothing was sent and the DUT could rest: a rate that
        # is proven counts that time.
        measured_seconds=trial.measured_seconds + trial.tester.stalled_ns / 1e9,
        offered_frames=trial.offered_frames,
        missing_frames=trial.missing_frames,
        predicted_capacity_pps=trial.tester.tsc_hz / cycles if cycles else None,
        invalid_trials=invalid,
    )


def _trial(
    made: BedTrial,
    settings: TrialSettings,
    dut: str,
    number: int,
    started_at: str,
    load_pps: float | None,
    seconds: float,
    purpose: Purpose,
) -> Trial:
    result = made.result
    offered = sum(stream.offered_frames for stream in result.streams)
    return Trial(
        number=number,
        search=settings.search,
        dut=dut,
        mix=settings.mix,
        flows=settings.flows,
        purpose=purpose,
        started_at=started_at,
        # As much as it can: what was intended is what was offered.
        intended_load_pps=load_pps or max(offered, 1) / result.measured_seconds,
        intended_seconds=seconds,
        measured_seconds=result.measured_seconds,
        streams=result.streams,
        latency=result.latency,
        departure=result.departure,
        tester=result.tester,
        silence_ns_max=result.silence_ns_max,
        silence_ns_sum=result.silence_ns_sum,
        tester_ports=result.counters,
        dut_reading=made.dut,
        valid=result.valid,
        invalid_reasons=result.invalid_reasons,
    )
