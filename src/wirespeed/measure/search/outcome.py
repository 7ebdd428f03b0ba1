"""What a search found, put beside what its trials say: SearchResult + trials -> Outcome. Pure."""

from collections.abc import Sequence
from typing import Literal

from wirespeed.measure.search.ledger import build_ledger
from wirespeed.measure.search.limit import limit_of_ceiling, limit_of_failure
from wirespeed.measure.search.sample import counted_pps, sample_of
from wirespeed.measure.search.search import Goal, Method, SearchResult
from wirespeed.model.spread import Confirmations
from wirespeed.model.trial import FAR_APART, Limit, Outcome, Trial

FAR_APART_CYCLES = 400
"""Between two cores of one cache the round trip takes 180 to 290 cycles, of two some 1250 to 1400,
and what crosses them costs two to six times as much."""


def build_outcome(
    result: SearchResult,
    goal: Goal,
    trials: Sequence[Trial],
    *,
    link_load_pps: float | None,
    asked_load_pps: float | None = None,
    seconds: float,
) -> Outcome:
    """Build the record of one search from all its trials, void ones included.

    `link_load_pps` is the line rate for the search's mix, None where there is no line;
    `asked_load_pps` the highest load that was asked for, None if none was; `seconds` is wall time.
    Raises ValueError without a valid trial.
    """
    valid = {trial.number: trial for trial in trials if trial.valid}
    confirmed = valid.get(result.confirmed_trial) if result.confirmed_trial is not None else None
    upper = valid.get(result.upper_trial) if result.upper_trial is not None else None
    shown = upper or confirmed or max(valid.values(), key=lambda trial: trial.number)
    ledger = build_ledger(shown)
    if result.loss_floor is not None:
        floor = f"a share of {result.loss_floor:.3g} is lost at every load that was tried"
        limit = Limit(by="loss floor", evidence=(floor,))
    elif upper is not None:
        limit = limit_of_failure(upper, ledger)
    else:
        limit = limit_of_ceiling(
            goal.max_load_pps,
            link_load_pps=link_load_pps,
            asked_load_pps=asked_load_pps,
            confirmed=confirmed,
        )
    cycles, source = _cycles(confirmed or shown, list(valid.values()))
    return Outcome(
        search=shown.search,
        dut=shown.dut,
        mix=shown.mix,
        method=result.method,
        goal_width=goal.relative_width,
        found_load_pps=result.found_load_pps,
        upper_load_pps=result.upper_load_pps,
        throughput_pps=result.throughput_pps,
        confirmed_seconds=result.confirmed_seconds,
        confirmed_trial=result.confirmed_trial,
        confirmations=_confirmations(confirmed, list(valid.values())),
        lost_frames=result.lost_frames,
        pdr_load_pps=result.pdr_load_pps,
        pdr_loss_ratio=result.pdr_loss_ratio,
        trials=len(valid),
        invalid_trials=len(trials) - len(valid),
        seconds=seconds,
        loss_floor=result.loss_floor,
        verdict=result.verdict,
        windows=(confirmed or shown).windows,
        notes=(
            *_windowed(confirmed or shown),
            *_far_apart(trials),
            *_forgiven(result),
            *result.notes,
        ),
        limit=limit.model_copy(update={"evidence": (*limit.evidence, *_far_apart(trials))}),
        ledger=ledger,
        ledger_trial=shown.number,
        busy_cycles_per_packet=cycles,
        cycles_source=source,
        core_hz=_core_hz(shown),
    )


def _confirmations(confirmed: Trial | None, valid: Sequence[Trial]) -> Confirmations | None:
    """Put together the trials that confirmed one load; a failure that was taken back did not."""
    if confirmed is None:
        return None
    load = (confirmed.intended_load_pps, confirmed.intended_seconds, "confirm")
    same = [t for t in valid if (t.intended_load_pps, t.intended_seconds, t.purpose) == load]
    rates = [counted_pps(s) for s in map(sample_of, same) if not s.missing_frames]
    if len(rates) < 2:
        return None
    return Confirmations(trials=len(rates), lowest_pps=min(rates), highest_pps=max(rates))


def _windowed(trial: Trial) -> tuple[str, ...]:
    return () if trial.windows is None else (str(trial.windows),)


def _far_apart(trials: Sequence[Trial]) -> tuple[str, ...]:
    """Say that the tester's core and the DUT's lay far apart, in all trials or in some."""
    trips = [max(t.tester.pingpong_cycles_before, default=0) for t in trials]
    known = [trip for trip in trips if trip]
    far = [trip for trip in known if trip >= FAR_APART_CYCLES]
    if not far:
        return ()
    when = "" if len(far) == len(known) else f", in {len(far)} of {len(known)} trials"
    cycles = f"{sorted(far)[len(far) // 2]:,} cycles a cache line's round trip"
    return (f"{FAR_APART}: {cycles}{when}",)


def _forgiven(result: SearchResult) -> tuple[str, ...]:
    """Say what the search forgave on its way; the confirming trial forgives nothing."""
    exceed = result.tolerance.exceed_ratio
    if not exceed:
        return ()
    return (f"up to {exceed:.0%} of the search's trials at a load may lose frames (exceed ratio)",)


def unproven_outcome(
    method: Method, goal_width: float, trials: Sequence[Trial], *, why: str, seconds: float
) -> Outcome:
    """Build the record of a search that had to give up because trials stayed void.

    It says nothing about the DUT. Raises ValueError without a trial.
    """
    last = trials[-1]
    valid = [trial for trial in trials if trial.valid]
    return Outcome(
        search=last.search,
        dut=last.dut,
        mix=last.mix,
        method=method,
        goal_width=goal_width,
        found_load_pps=None,
        upper_load_pps=None,
        throughput_pps=None,
        confirmed_seconds=0,
        confirmed_trial=None,
        lost_frames=last.missing_frames,
        trials=len(valid),
        invalid_trials=len(trials) - len(valid),
        seconds=seconds,
        verdict="no valid trial",
        windows=last.windows,
        notes=(why,),
        limit=Limit(by="tester", evidence=last.invalid_reasons),
        ledger=build_ledger(last),
        ledger_trial=last.number,
    )


def _core_hz(trial: Trial) -> int | None:
    """Give the clock of the DUT's core: the tester reads it where they share a machine."""
    if trial.dut_reading is not None and trial.dut_reading.far:
        return trial.dut_reading.core_hz or None
    return trial.tester.core_hz or None


def _cycles(
    trial: Trial, trials: Sequence[Trial]
) -> tuple[float | None, Literal["dut", "overload"] | None]:
    reading = trial.dut_reading
    if reading is not None and reading.busy_cycles_per_packet:
        return reading.busy_cycles_per_packet, "dut"
    if reading is not None and reading.far:
        # Its TSC is another machine's, and how many cores forwarded is not told.
        return None, None
    overloaded = [t for t in trials if t.loss_ratio > 0.01 and t.forwarding_rate_pps > 0]
    if not overloaded:
        return None, None
    best = max(overloaded, key=lambda t: t.forwarding_rate_pps)
    return best.tester.tsc_hz / best.forwarding_rate_pps, "overload"
