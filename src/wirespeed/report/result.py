"""One outcome and the figures that follow from it."""

from wirespeed.model.trial import Latency, Outcome, Trial
from wirespeed.model.units import load_bps_l1, load_bps_l2, pct_of_line_rate
from wirespeed.report import format as fmt
from wirespeed.report.page import NOT_PROVEN, Missing, Result

BACK_NS = 100_000_000
"""A DUT from which nothing came for so long when the trial ended had not begun to forward again."""


OVERLOADED = 0.01
"""Share of its frames that an overloaded DUT loses, at least."""
STILL_SHARE = 0.1
"""Of the time after an overload: whose frames are lost in its last part may lose more after it."""


def reset_s(trial: Trial) -> float | None:
    """Time for which a DUT that was reset in a trial forwarded nothing (RFC 2544 section 26.6).

    None: it did not forward again before the trial's end, or the time is not known.
    """
    if not trial.valid or trial.quiet_ns is None or trial.quiet_ns[1] >= BACK_NS:
        return None
    return trial.quiet_ns[0] / 1e9


def busy_cycles(trial: Trial) -> float | None:
    """Cycles a packet of a DUT that was offered more than it forwards; None where none are known.

    As the DUT counts them; else, where it shares the tester's machine and lost frames, the TSC's
    over the rate: then no poll comes back empty.
    """
    reading = trial.dut_reading
    if reading is not None and reading.busy_cycles_per_packet:
        return reading.busy_cycles_per_packet
    is_overloaded = trial.loss_ratio > OVERLOADED and trial.forwarding_rate_pps > 0
    if not is_overloaded or (reading is not None and reading.far):
        return None
    return trial.tester.tsc_hz / trial.forwarding_rate_pps


def core_hz(trial: Trial) -> int | None:
    """Give the clock of the DUT's core in a trial; a far DUT's is told by its own kernel."""
    reading = trial.dut_reading
    told = reading.core_hz if reading is not None and reading.far else trial.tester.core_hz
    return told or None


def recovery_s(trial: Trial) -> float | None:
    """Time from the end of an overload to the last lost frame (RFC 2544 section 26.5).

    None: frames were lost until the trial's end, or near it; or the time is not told.
    """
    if not trial.valid or trial.recovery is None:
        return None
    then_s = trial.intended_seconds - trial.recovery.overload_seconds
    lost_s = trial.recovery.last_loss_ns / 1e9
    return lost_s if lost_s < then_s * (1 - STILL_SHARE) else None


def build_result(
    outcome: Outcome,
    trials: tuple[Trial, ...],
    by_number: dict[int, Trial],
    link_bps: int | None,
) -> Result:
    """Figures of one outcome; `by_number` finds the trials that it names."""
    mix, pps = outcome.mix, outcome.throughput_pps
    line = _line_rate(outcome, trials, by_number, link_bps)
    unproven = Missing(reason=why_unproven(outcome), shown=NOT_PROVEN)
    tolerance: float | Missing
    if pps is None:
        tolerance = unproven
    elif outcome.upper_load_pps is None:
        tolerance = Missing(reason="no load failed, so nothing bounds it from above")
    else:
        tolerance = (outcome.upper_load_pps - pps) / outcome.upper_load_pps
    return Result(
        outcome=outcome,
        trials=trials,
        throughput_pps=unproven if pps is None else pps,
        line_rate_pps=line,
        pct_line_rate=line
        if isinstance(line, Missing)
        else (unproven if pps is None else pct_of_line_rate(pps, line)),
        throughput_bps_l1=unproven if pps is None else load_bps_l1(pps, mix.mean_frame_bytes),
        throughput_bps_l2=unproven if pps is None else load_bps_l2(pps, mix.mean_frame_bytes),
        tolerance=tolerance,
        latency=_latency(outcome, by_number),
    )


def _line_rate(
    outcome: Outcome,
    trials: tuple[Trial, ...],
    by_number: dict[int, Trial],
    link_bps: int | None,
) -> float | Missing:
    if link_bps is None:
        return Missing(reason="the wire is virtual: it has no line rate", shown="no line")
    witness = by_number.get(outcome.confirmed_trial or outcome.ledger_trial)
    if witness is None and trials:
        witness = trials[-1]
    if witness is None:
        return Missing(
            reason="no trial of it is in the record, so how many ports sent is unknown",
            shown="cannot tell",
        )
    # Loads are sums over all streams, so the line to hold them against is that of all ports.
    ports = len({s.tx_port for s in witness.streams})
    return ports * link_bps / (8 * outcome.mix.mean_wire_bytes)


def _latency(outcome: Outcome, by_number: dict[int, Trial]) -> Latency | Missing:
    if outcome.confirmed_trial is None:
        return Missing(reason="no trial confirmed a throughput to take it at")
    trial = by_number.get(outcome.confirmed_trial)
    if trial is None:
        return Missing(
            reason=f"its confirming trial, number {outcome.confirmed_trial}, is not in the record",
            shown="cannot tell",
        )
    if trial.latency is None:
        return Missing(reason=f"trial {trial.number} recorded none", shown="cannot tell")
    return trial.latency


def why_unproven(outcome: Outcome) -> str:
    """Say why an outcome has no throughput."""
    if outcome.loss_floor is not None:
        return f"a loss floor of {fmt.ratio(outcome.loss_floor)} that no load removed"
    if outcome.trials == 0 or outcome.verdict == "no valid trial":
        return "trials stayed void: tester or machine could not do this load"
    if outcome.found_load_pps is None:
        return "every load that was tried lost frames"
    return "the search found a load, but no full trial confirmed it"
