"""The answer for one DUT, and how far it varied where a search was repeated."""

from collections.abc import Sequence
from statistics import median_low

from wirespeed.model.trial import Outcome
from wirespeed.report.page import NOT_PROVEN, Headline, Missing, Run, Spread
from wirespeed.report.result import why_unproven


def spread(outcomes: Sequence[Outcome]) -> Spread | Missing:
    """How the throughput of repeated searches varied."""
    proven = [o.throughput_pps for o in outcomes if o.throughput_pps is not None]
    if not proven:
        return Missing(reason=why_unproven(outcomes[-1]), shown=NOT_PROVEN)
    return Spread(
        searches=len(outcomes),
        proven=len(proven),
        median_pps=median_low(proven),
        lowest_pps=min(proven),
        highest_pps=max(proven),
    )


def median_search(outcomes: Sequence[Outcome]) -> Outcome:
    """Find the search that gave the median throughput, or the last one where none was proven."""
    figure = spread(outcomes)
    if isinstance(figure, Missing):
        return outcomes[-1]
    return next(o for o in outcomes if o.throughput_pps == figure.median_pps)


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
        told = median_search(same)
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
