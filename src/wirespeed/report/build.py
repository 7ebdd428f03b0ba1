"""Records to a page. Pure: no file, no clock, and no verdict that the records do not hold."""

from collections.abc import Iterable, Sequence
from statistics import median_low

from wirespeed.model.error import InputError
from wirespeed.model.trial import FrameMix, Latency, Outcome, Setup, Trial
from wirespeed.model.units import pct_of_line_rate
from wirespeed.report import format as fmt
from wirespeed.report.page import (
    NOT_PROVEN,
    DutSection,
    Headline,
    Missing,
    Page,
    Result,
    Run,
    Spread,
    Unfinished,
)

FULL_TRIAL_SECONDS = 60
"""RFC 2544 section 24: a trial lasts at least 60 seconds."""


def build_page(records: Iterable[Setup | Trial | Outcome]) -> Page:
    """Make the page of one run. Raises InputError when the records hold no setup."""
    run = build_run(tuple(records), label="")
    return Page(title="Zero-loss throughput", headlines=headlines(run), runs=(run,))


def build_run(records: Sequence[Setup | Trial | Outcome], label: str) -> Run:
    """One run's records, sorted by DUT and frame size."""
    setups = [r for r in records if isinstance(r, Setup)]
    if not setups:
        raise InputError(
            "report.no_setup",
            where="trials.jsonl",
            found=f"{len(records)} records and none of kind `setup`",
            so="nobody could tell what the figures are about",
            next="use the run folder of a measurement that was started by `wirespeed measure`",
        )
    setup = setups[0]
    by_number = {r.number: r for r in records if isinstance(r, Trial)}
    searches, unfinished = _searches(records)
    names = dict.fromkeys(
        [*setup.duts, *(r.dut for r in records if isinstance(r, Trial | Outcome))]
    )
    duts = tuple(
        DutSection(
            name=name,
            facts=tuple(setup.duts.get(name, {}).items()),
            results=tuple(
                _result(outcome, trials, by_number, setup.link_bps)
                for outcome, trials in searches
                if outcome.dut == name
            ),
            unfinished=tuple(Unfinished(mix=t[0].mix, trials=t) for t in unfinished[name])
            if name in unfinished
            else (),
        )
        for name in names
    )
    return Run(label=label, setup=setup, notes=_notes(setups, duts), duts=duts)


def _searches(
    records: Sequence[Setup | Trial | Outcome],
) -> tuple[list[tuple[Outcome, tuple[Trial, ...]]], dict[str, list[tuple[Trial, ...]]]]:
    """Each outcome with the trials before it of its DUT and mix; then what no outcome claimed.

    Smallest frames first, mixes last; repeated searches stay in the order of the run.
    """
    open_trials: dict[tuple[str, str], list[Trial]] = {}
    closed: list[tuple[Outcome, tuple[Trial, ...]]] = []
    for record in records:
        if isinstance(record, Trial):
            open_trials.setdefault((record.dut, record.mix.label), []).append(record)
        elif isinstance(record, Outcome):
            trials = open_trials.pop((record.dut, record.mix.label), [])
            closed.append((record, tuple(trials)))
    closed.sort(key=lambda pair: _mix_order(pair[0].mix))
    left: dict[str, list[tuple[Trial, ...]]] = {}
    for trials in sorted(open_trials.values(), key=lambda t: _mix_order(t[0].mix)):
        left.setdefault(trials[0].dut, []).append(tuple(trials))
    return closed, left


def _mix_order(mix: FrameMix) -> tuple[bool, float]:
    return len(mix.shares) > 1, mix.mean_frame_bytes


def _result(
    outcome: Outcome,
    trials: tuple[Trial, ...],
    by_number: dict[int, Trial],
    link_bps: int | None,
) -> Result:
    mix, pps = outcome.mix, outcome.throughput_pps
    line = _line_rate(outcome, trials, by_number, link_bps)
    unproven = Missing(reason=_why_unproven(outcome), shown=NOT_PROVEN)
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
        throughput_bps_l1=unproven if pps is None else pps * 8 * mix.mean_wire_bytes,
        throughput_bps_l2=unproven if pps is None else pps * 8 * mix.mean_frame_bytes,
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


def _why_unproven(outcome: Outcome) -> str:
    if outcome.loss_floor is not None:
        return f"a loss floor of {fmt.ratio(outcome.loss_floor)} that no load removed"
    if outcome.found_load_pps is None:
        return "every load that was tried lost frames"
    return "the search found a load, but no full trial confirmed it"


def _notes(setups: list[Setup], duts: tuple[DutSection, ...]) -> tuple[str, ...]:
    """Say what a reader must know before the figures, in order of weight."""
    setup, notes = setups[0], []
    stopped = [(d.name, u) for d in duts for u in d.unfinished]
    if stopped:
        where = ", ".join(
            f"{name} at {fmt.frame(u.mix.label)} ({len(u.trials)} "
            f"{'trial' if len(u.trials) == 1 else 'trials'})"
            for name, u in stopped
        )
        notes.append(
            f"This run was stopped before it was finished. No result for: {where}. "
            "Their trials are listed; no throughput is claimed from them."
        )
    unmeasured = [d.name for d in duts if not d.results and not d.unfinished]
    if unmeasured:
        notes.append(f"Set up and never measured: {', '.join(unmeasured)}.")
    if setup.confirm_seconds < FULL_TRIAL_SECONDS:
        notes.append(
            f"Trials were short: {fmt.seconds(setup.trial_seconds)} to search, "
            f"{fmt.seconds(setup.confirm_seconds)} to confirm. RFC 2544 asks for "
            f"{FULL_TRIAL_SECONDS} s; the same run with such trials would take about "
            f"{fmt.seconds(setup.full_method_seconds)}. Loss that is rarer than a trial is long "
            "was not looked for."
        )
    else:
        notes.append(
            f"Trials lasted {fmt.seconds(setup.trial_seconds)} to search and "
            f"{fmt.seconds(setup.confirm_seconds)} to confirm; the full method takes about "
            f"{fmt.seconds(setup.full_method_seconds)}."
        )
    if setup.link_bps is None:
        notes.append("The wire is virtual and has no line rate: nothing is given in % of it.")
    if len(setups) > 1:
        changed = any(_conditions(s) != _conditions(setup) for s in setups[1:])
        notes.append(
            f"The run was resumed {len(setups) - 1} time(s)"
            + (", on a setup that had changed: the first is shown." if changed else ".")
        )
    return tuple(notes)


def _conditions(setup: Setup) -> Setup:
    """Leave the date out of a setup, to tell whether a resumed run met the same conditions."""
    return setup.model_copy(update={"started_at": ""})


def spread(outcomes: Sequence[Outcome]) -> Spread | Missing:
    """How the throughput of repeated searches varied."""
    proven = [o.throughput_pps for o in outcomes if o.throughput_pps is not None]
    if not proven:
        return Missing(reason=_why_unproven(outcomes[-1]), shown=NOT_PROVEN)
    return Spread(
        searches=len(outcomes),
        proven=len(proven),
        median_pps=median_low(proven),
        lowest_pps=min(proven),
        highest_pps=max(proven),
    )


def headlines(run: Run) -> tuple[Headline, ...]:
    """One per DUT: its smallest frames, where the cost per frame shows most."""
    made = []
    for dut in run.duts:
        if not dut.results:
            continue
        first = dut.results[0].outcome
        same = [
            r.outcome
            for r in dut.results
            if r.outcome.mix == first.mix and r.outcome.method == first.method
        ]
        figure = spread(same)
        # The verdict that goes with the figure is that of the search that gave it.
        told = next(
            (
                o
                for o in same
                if isinstance(figure, Spread) and o.throughput_pps == figure.median_pps
            ),
            same[-1],
        )
        made.append(
            Headline(
                run=run.label,
                dut=dut.name,
                frame_label=first.mix.label,
                throughput=figure,
                confirmed_seconds=told.confirmed_seconds,
                limited_by=told.limit.by,
            )
        )
    return tuple(made)
