"""The MLRsearch library as it is (FD.io CSIT, draft-ietf-bmwg-mlrsearch), then our confirmation.

Its NDR goal forgives: a load passes when no more than `exceed_ratio` of its short trials lost
frames. So what it finds is where we start to confirm, by trials of the full duration without loss.
Its PDR goal, searched for at the same time, is reported as it stands.
"""

import math
from itertools import pairwise

from MLRsearch.config import Config
from MLRsearch.goal_result import GoalResult
from MLRsearch.multiple_loss_ratio_search import MultipleLossRatioSearch
from MLRsearch.search_goal import SearchGoal
from MLRsearch.search_goal_tuple import SearchGoalTuple
from MLRsearch.trial_measurement.abstract_measurer import AbstractMeasurer
from MLRsearch.trial_measurement.measurement_result import MeasurementResult

from wirespeed.measure.search.floor import recognise_loss_floor
from wirespeed.measure.search.goal import Goal, Observer, SearchResult, Verdict
from wirespeed.measure.search.log import (
    SearchLog,
    TrialsExhaustedError,
    passed,
    unsent_frames,
)
from wirespeed.measure.search.measurer import Measurer, Sample


def search_mlr(measurer: Measurer, goal: Goal, observe: Observer | None = None) -> SearchResult:
    """NDR and PDR by MLRsearch, then the NDR load confirmed, stepping down while it fails.

    Steps are the goal's width, doubled each time, at most `goal.max_confirmations` of them.
    """
    log = SearchLog("mlrsearch", measurer, goal, observe)
    ndr_goal, pdr_goal = _library_goals(goal)
    goals = (ndr_goal, pdr_goal) if pdr_goal else (ndr_goal,)
    # The library reads a clock only to give up. The bound here is the number of trials, so that
    # the same trials always give the same result.
    config = Config(
        goals=SearchGoalTuple(goals),
        min_load=goal.min_load_pps,
        max_load=goal.max_load_pps,
        search_duration_max=math.inf,
        warmup_duration=0.0,
    )
    try:
        found = MultipleLossRatioSearch(config).search(_Adapter(log), debug=_ignore)
    except TrialsExhaustedError:
        failed = [s for s in log.samples if not passed(s)]
        lowest = min(failed, key=lambda s: s.intended_load_pps, default=None)
        return log.result(
            "trials exhausted",
            found=_passed_below(log.samples, lowest),
            upper=lowest,
            confirmed=None,
            exceed_ratio=goal.exceed_ratio,
        )
    lower_pps, upper_pps = _bounds(found[ndr_goal])
    pdr_pps = _bounds(found[pdr_goal])[0] if pdr_goal else None
    verdict, confirmed, upper = _confirm(log, lower_pps, _failed_at(log.samples, upper_pps))
    if confirmed is None and recognise_loss_floor(log.samples):
        verdict = "loss floor"
    return log.result(
        verdict,
        found=confirmed or _passed_below(log.samples, upper),
        upper=upper,
        confirmed=confirmed,
        pdr_load_pps=pdr_pps,
        pdr_loss_ratio=goal.pdr_loss_ratio if pdr_pps is not None else None,
        exceed_ratio=goal.exceed_ratio,
    )


class _Adapter(AbstractMeasurer):
    """Our measurer as the library wants it: counts, with unsent frames counted as bad."""

    def __init__(self, log: SearchLog) -> None:
        self.log = log

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        goal, samples = self.log.goal, self.log.samples
        clean = [s.intended_load_pps for s in samples if passed(s)]
        lossy = [s.intended_load_pps for s in samples if not passed(s)]
        upper = min(lossy, default=None)
        sample = self.log.measure(
            intended_load,
            intended_duration,
            "search",
            bracket=(max((c for c in clean if upper is None or c < upper), default=None), upper),
            trials_left=_trials_left(goal, samples),
        )
        # Not the frames that rounding to whole frames and bursts leaves out: unsent_frames knows.
        # Nothing offered would read as zero loss, unless at least one frame was intended.
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=sample.offered_frames,
            loss_count=sample.missing_frames,
            intended_count=max(1, sample.offered_frames + unsent_frames(sample)),
            duration_with_overheads=sample.measured_seconds,
        )


def _library_goals(goal: Goal) -> tuple[SearchGoal, SearchGoal | None]:
    def one(loss_ratio: float) -> SearchGoal:
        return SearchGoal(
            loss_ratio=loss_ratio,
            exceed_ratio=goal.exceed_ratio,
            relative_width=goal.relative_width,
            initial_trial_duration=goal.trial_seconds,
            final_trial_duration=goal.trial_seconds,
            duration_sum=goal.trial_seconds * goal.trials_per_load,
            fail_fast=False,
        )

    return one(0.0), one(goal.pdr_loss_ratio) if goal.pdr_loss_ratio else None


def _bounds(result: GoalResult) -> tuple[float | None, float | None]:
    lower, upper = result.relevant_lower_bound, result.relevant_upper_bound
    return (
        None if lower is None else float(lower),
        None if upper is None else float(upper),
    )


def _confirm(
    log: SearchLog, load_pps: float | None, upper: Sample | None
) -> tuple[Verdict, Sample | None, Sample | None]:
    """Verdict, confirming trial and upper bound; each failure becomes the upper bound."""
    goal, step = log.goal, log.goal.relative_width
    if load_pps is None:
        return "nothing passed", None, upper
    try:
        for _ in range(goal.max_confirmations):
            sample = log.measure(
                load_pps,
                goal.confirm_seconds,
                "confirm",
                bracket=(load_pps, upper.intended_load_pps if upper else None),
                trials_left=1,
            )
            if passed(sample):
                return _reached(goal, sample, upper), sample, upper
            log.notes.append(
                f"confirming trial {sample.trial} lost {sample.missing_frames} frames at "
                f"{load_pps:.0f} pps, which MLRsearch had passed"
            )
            upper = sample
            if load_pps <= goal.min_load_pps:
                return "nothing passed", None, upper
            load_pps = max(goal.min_load_pps, load_pps * (1 - step))
            step = min(2 * step, 0.5)
    except TrialsExhaustedError:
        return "trials exhausted", None, upper
    return "not confirmed", None, upper


def _reached(goal: Goal, confirmed: Sample, upper: Sample | None) -> Verdict:
    if upper is None:
        return "ceiling passed"
    narrow = goal.narrow_enough(confirmed.intended_load_pps, upper.intended_load_pps)
    return "width met" if narrow else "wider than goal"


def _failed_at(samples: list[Sample], load_pps: float | None) -> Sample | None:
    """Last trial that lost frames at the library's upper bound."""
    if load_pps is None:
        return None
    return next(
        (s for s in reversed(samples) if s.intended_load_pps == load_pps and not passed(s)), None
    )


def _passed_below(samples: list[Sample], upper: Sample | None) -> Sample | None:
    ceiling = upper.intended_load_pps if upper else math.inf
    below = [s for s in samples if passed(s) and s.intended_load_pps < ceiling]
    return max(below, key=lambda s: s.intended_load_pps, default=None)


def _trials_left(goal: Goal, samples: list[Sample]) -> int:
    """Guess from the narrowest gap between loads so far: the library does not say how far it is."""
    loads = sorted({s.intended_load_pps for s in samples})
    gaps = [(b - a) / b for a, b in pairwise(loads)]
    narrowest = min(gaps, default=1 - goal.min_load_pps / goal.max_load_pps)
    loads_left = max(1, math.ceil(math.log2(max(1.0, narrowest / goal.relative_width))))
    return loads_left * max(1, (goal.trials_per_load + 1) // 2) + 1


def _ignore(_: str) -> None:
    """Drop the library's log of every step: the observer has what a user wants to see."""
