"""Makes the trials of one search: numbers them, keeps every one, repeats the void ones.

A search sees only valid trials. A void one (tester or machine at fault) is made again, at most
`MAX_REPEATS` times; every one is recorded, and how many there were is in the result.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import Field

from wirespeed.host.clock import utc_now
from wirespeed.measure.bench.testbed import BedTrial, Resettable, Testbed
from wirespeed.measure.bench.tester_protocol import (
    ProgressReply,
    StreamRequest,
    Then,
    TrialRequest,
)
from wirespeed.measure.bench.windowed import (
    LONGEST_S,
    SETTLE_MS,
    Window,
    WindowRun,
    enough,
    judge_run,
    next_length,
    next_run,
    trial_fields,
)
from wirespeed.measure.search.limit import dut_core_taken
from wirespeed.measure.search.measurer import Purpose, Sample
from wirespeed.measure.search.sample import counted_pps, sample_of
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.frozen import Frozen
from wirespeed.model.trial import Recovery, Trial

MAX_REPEATS = 12
MAX_REPEATS_FOR_DUT = 4
"""Of those, how often a loss is put down to the DUT's core having been taken away. A machine that
takes it in every trial is part of what was measured, and then the loss counts."""
NEVER_VALID = "trial.never_valid"
TOO_SLOW = "tester.too_slow"
RESET_AFTER_S = 1.0
"""Into a trial, at the earliest: until then its DUT is seen to forward."""
LINK_LOOK_MS, CARD_LOOK_MS = 10, 500
"""In such a trial; a virtual wire is down for so much longer than the DUT at most. A card's link
comes by itself, and each look takes time from an emulated host's only CPU."""
TOO_SLOW_TWICE = 2
"""Void trials in a row of one load, for this reason alone, after which it is beyond the tester."""
OVERLOAD_SHARE = 6 / 7
"""Of a trial of a recovery; then the load is halved."""
THEN_SHARE = 0.5
"""RFC 2544 section 26.5: of the overload."""
NOT_CHANGED = "trial.load_not_changed"
NOT_RESET = "trial.not_reset"
DUT_CORE_TAKEN = "machine.dut_core_taken"


class BeyondTesterError(MeasurementError):
    """The tester cannot offer the load; `offered_load_pps` is what it could."""

    def __init__(self, trial: Trial) -> None:
        self.offered_load_pps = trial.offered_load_pps
        super().__init__(
            TOO_SLOW,
            where=f"{trial.dut}, {trial.intended_load_pps:.0f} pps",
            found="; ".join(trial.invalid_reasons),
            so="a higher load cannot be tried",
            next="use more tester lcores, or a lower --max-load",
        )


class TesterBounds(Frozen):
    """How long the tester's loops may be away before a trial is void."""

    gap_limit_ms: Annotated[float, Field(ge=0.01, le=10_000)] = 10.0
    """At once."""
    stalled_share: Annotated[float, Field(ge=0.001, le=1)] = 0.05
    """In all, as a share of the trial."""

    @property
    def text(self) -> str:
        """Name them where they are not the usual ones; else nothing."""
        if self == TesterBounds():
            return ""
        usual = TesterBounds()
        return (
            f"loosened: away for {self.gap_limit_ms:g} ms at once (usual: {usual.gap_limit_ms:g}), "
            f"for {self.stalled_share:.0%} of a trial in all (usual: {usual.stalled_share:.0%})"
        )


class TrialSettings(Frozen):
    """What all trials of one search share."""

    search: int
    mix: FrameMix
    flows: int
    burst_frames: int = 32
    windowed: bool = False
    confirmations: int = 1
    """Trials of a load that confirm it: it passes if none of them lost a frame."""
    bounds: TesterBounds = TesterBounds()


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
        next_request: Callable[[], int] | None = None,
        record: Callable[[Trial], None],
        recorded: Sequence[Trial] = (),
        progress: Callable[[ProgressReply], None] | None = None,
    ) -> None:
        self._bed, self._settings = bed, settings
        self._next_number, self._record = next_number, record
        # Every window is a trial to the tester, and its frames are told from the last one's.
        self._next_request = next_request
        self._length_s = LONGEST_S
        self._recorded = list(recorded)
        self._progress = progress
        self.trials: list[Trial] = []
        self.recorded_seconds = 0.0
        """Measured time of those that were answered from the record."""

    def measure(self, load_pps: float, seconds: float, purpose: Purpose) -> Sample:
        """One valid trial; of a load to confirm as many as are asked for, until one fails.

        Gives the one that failed, else the one with the lowest rate. Raises MeasurementError
        `trial.never_valid`, BeyondTesterError.
        """
        worst, invalid = self._sample(load_pps, seconds, purpose)
        for _ in range(self._settings.confirmations - 1 if purpose == "confirm" else 0):
            if worst.missing_frames:
                break
            sample, voids = self._sample(load_pps, seconds, purpose)
            invalid += voids
            if sample.missing_frames or counted_pps(sample) < counted_pps(worst):
                worst = sample
        return worst.model_copy(update={"invalid_trials": invalid})

    def _sample(self, load_pps: float, seconds: float, purpose: Purpose) -> tuple[Sample, int]:
        trial, invalid = self._valid(load_pps, seconds, purpose)
        return sample_of(trial), invalid

    def capacity(self, seconds: float) -> Trial:
        """One valid trial at all that the tester can send. Raises as `measure`."""
        return self._valid(None, seconds, "capacity")[0]

    def overload(self, load_pps: float | None, seconds: float) -> Trial:
        """One valid trial at this load, or at all that the tester can send. Raises as `measure`."""
        return self._valid(load_pps, seconds, "line")[0]

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
            so="the tester or its machine cannot send this load; this says nothing about the DUT",
            next="use shorter trials, an idle machine, or a lower --max-load",
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
        bed, number, started_at = self._bed(), self._next_number(), utc_now()
        if purpose == "reset":
            made = self._reset(bed, number, load_pps, seconds)
            return self._trial(_fields(made), number, started_at, load_pps, seconds, purpose)
        if purpose == "recovery":
            fields = self._recover(bed, number, load_pps, seconds)
            return self._trial(fields, number, started_at, load_pps, seconds, purpose)
        # A burst is of frames back to back: between windows there would be time to drain.
        if self._settings.windowed and purpose != "burst":
            fields = trial_fields(self._runs(bed, number, load_pps, seconds))
            return self._trial(fields, number, started_at, load_pps, seconds, purpose)
        made = bed.run(self._request(bed, number, load_pps, seconds), self._progress)
        trial = self._trial(_fields(made), number, started_at, load_pps, seconds, purpose)
        # An overload loses by intention; what its DUT was doing is no question there.
        asked = bed.shares_machine and forgive and purpose not in ("capacity", "line")
        taken = dut_core_taken(trial) if asked else ()
        if not taken:
            return trial
        reasons = (*trial.invalid_reasons, *(f"{DUT_CORE_TAKEN}: {e}" for e in taken))
        return trial.model_copy(update={"valid": False, "invalid_reasons": reasons})

    def _reset(self, bed: Testbed, number: int, load_pps: float | None, seconds: float) -> BedTrial:
        """Make a continuous trial in which the DUT is reset once. Raises InputError `dut.no_reset`.

        A port without a link takes no frames. That less was offered then does not void it: the time
        is that between two frames which came back.
        """
        if not isinstance(bed, Resettable):
            raise InputError(
                "dut.no_reset",
                where=bed.dut.name,
                found="wirespeed cannot stop and start this DUT",
                so="the time of a reset cannot be measured",
                next="leave --resets out, or measure a DUT that wirespeed starts (--dut)",
            )
        was_reset = False

        def told(progress: ProgressReply) -> None:
            nonlocal was_reset
            if not was_reset and progress.seconds >= RESET_AFTER_S:
                was_reset = True
                bed.reset()
            if self._progress is not None:
                self._progress(progress)

        request = self._request(bed, number, load_pps, seconds)
        look_ms = LINK_LOOK_MS if bed.shares_machine else CARD_LOOK_MS
        made = bed.run(request.model_copy(update={"link_look_ms": look_ms}), told)
        reasons = [r for r in made.result.invalid_reasons if not r.startswith(TOO_SLOW)]
        if not was_reset:
            reasons.append(f"{NOT_RESET}: the trial was over before")
        return made.model_copy(
            update={
                "result": made.result.model_copy(
                    update={"valid": not reasons, "invalid_reasons": tuple(reasons)}
                )
            }
        )

    def _recover(
        self, bed: Testbed, number: int, load_pps: float | None, seconds: float
    ) -> dict[str, Any]:
        """Make a continuous trial that begins at this load and goes on at half of it.

        A core that the machine takes away is no reason to void it: an overload loses frames anyhow,
        and in a minute every machine takes it.
        """
        if load_pps is None:
            raise AssertionError("half of an overload is half of a known load")
        request = self._request(bed, number, load_pps, seconds)
        overload_s = round(seconds * OVERLOAD_SHARE, 6)
        then = Then(after_seconds=overload_s, pps=load_pps * THEN_SHARE)
        made = bed.run(request.model_copy(update={"then": then}), self._progress)
        fields, change = _fields(made), made.result.change
        if change is None:
            reasons = (*made.result.invalid_reasons, f"{NOT_CHANGED}: the trial was over before")
            return fields | {"valid": False, "invalid_reasons": reasons}
        recovery = Recovery(
            overload_seconds=then.after_seconds,
            then_pps=then.pps,
            last_loss_ns=change.last_loss_ns,
        )
        return fields | {"recovery": recovery}

    def _runs(
        self, bed: Testbed, number: int, load_pps: float | None, seconds: float
    ) -> list[WindowRun]:
        """Make windows until enough of them count, or it is plain that they do not."""
        runs: list[WindowRun] = []
        windows: list[Window] = []
        while not enough(windows, seconds):
            count, length_s = next_run(windows, seconds, self._length_s)
            request = self._request(bed, number, load_pps, count * length_s)
            made = bed.run(
                request.model_copy(update={"windows": count, "settle_ms": SETTLE_MS}), None
            )
            if not made.result.windows:
                raise MeasurementError(
                    "tester.no_window",
                    where=bed.dut.name,
                    found="; ".join(made.result.invalid_reasons) or "a run without a window",
                    so="nothing was measured",
                    next="run `make setup`, so that both are of the same release",
                )
            runs.append(judge_run(made, length_s))
            windows.extend(runs[-1].windows)
            self._length_s = next_length(windows, self._length_s)
            if self._progress is not None:
                self._progress(_progress(windows))
        return runs

    def _request(
        self, bed: Testbed, number: int, load_pps: float | None, seconds: float
    ) -> TrialRequest:
        settings = self._settings
        return TrialRequest(
            number=number if self._next_request is None else self._next_request(),
            mix=settings.mix,
            streams=tuple(StreamRequest(tx_port=t, rx_port=r) for t, r in bed.streams),
            flows=settings.flows,
            load_pps=load_pps,
            seconds=seconds,
            burst_frames=settings.burst_frames,
            expect=bed.dut.expect,
            cpus=bed.cpus,
            gap_limit_ms=settings.bounds.gap_limit_ms,
            stalled_share=settings.bounds.stalled_share,
        )

    def _trial(
        self,
        fields: dict[str, Any],
        number: int,
        started_at: str,
        load_pps: float | None,
        seconds: float,
        purpose: Purpose,
    ) -> Trial:
        offered = sum(stream.offered_frames for stream in fields["streams"])
        return Trial(
            number=number,
            search=self._settings.search,
            dut=self._bed().dut.name,
            mix=self._settings.mix,
            flows=self._settings.flows,
            purpose=purpose,
            started_at=started_at,
            # As much as it can: what was intended is what was offered.
            intended_load_pps=load_pps or max(offered, 1) / fields["measured_seconds"],
            intended_seconds=seconds,
            **fields,
        )


def recovery_seconds(overload_seconds: float) -> float:
    """How long a trial of a recovery is, whose overload takes so long."""
    return overload_seconds / OVERLOAD_SHARE


def _all_say(reasons: Sequence[str], slug: str) -> bool:
    return all(reason.startswith(slug) for reason in reasons)


def _fields(made: BedTrial) -> dict[str, Any]:
    result = made.result
    return {
        "measured_seconds": result.measured_seconds,
        "streams": result.streams,
        "latency": result.latency,
        "departure": result.departure,
        "tester": result.tester,
        "silence_ns_max": result.silence_ns_max,
        "silence_ns_sum": result.silence_ns_sum,
        "quiet_ns": (result.quiet_ns_max, result.quiet_ns_last),
        "tester_ports": result.counters,
        "dut_reading": made.dut,
        "valid": result.valid,
        "invalid_reasons": result.invalid_reasons,
    }


def _progress(windows: Sequence[Window]) -> ProgressReply:
    replies = [window.reply for window in windows if not window.reasons]
    return ProgressReply(
        v=1,
        id=0,
        event="progress",
        seconds=sum(reply.measured_seconds for reply in replies),
        offered_frames=sum(reply.offered_frames for reply in replies),
        received_frames=sum(s.unique_frames for reply in replies for s in reply.streams),
    )
