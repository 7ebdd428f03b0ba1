"""Plain binary search for zero loss (RFC 2544 section 26.1), confirmed by a full-length trial.

From the maximum load down: a trial that loses a frame lowers the upper bound, one that loses none
raises the lower bound, until the bracket meets the width. The lower bound then has to hold for the
full duration (section 24). If it does not, it becomes the upper bound and the search goes on below.
"""

import math

from wirespeed.measure.search.bracket import Bracket
from wirespeed.measure.search.floor import recognise_loss_floor
from wirespeed.measure.search.goal import Goal, Observer, SearchResult, Verdict
from wirespeed.measure.search.log import SearchLog, TrialsExhaustedError, passed
from wirespeed.measure.search.measurer import Measurer, Sample


def search_rfc2544(measurer: Measurer, goal: Goal, observe: Observer | None = None) -> SearchResult:
    """Binary search from `goal.max_load_pps` down, at most `goal.max_trials` trials."""
    return _BinarySearch(measurer, goal, observe).search()


class _BinarySearch:
    def __init__(self, measurer: Measurer, goal: Goal, observe: Observer | None) -> None:
        self.goal = goal
        self.log = SearchLog("rfc2544", measurer, goal, observe)
        self.bracket = Bracket(goal)

    def search(self) -> SearchResult:
        try:
            verdict, confirmed = self._search()
        except TrialsExhaustedError:
            verdict, confirmed = "trials exhausted", None
        return self.log.result(
            verdict,
            found=confirmed or self.bracket.lower,
            upper=self.bracket.upper,
            confirmed=confirmed,
        )

    def _search(self) -> tuple[Verdict, Sample | None]:
        self._trial(self.goal.max_load_pps)
        for _ in range(self.goal.max_confirmations):
            stopped = self._bisect()
            if stopped:
                return stopped, None
            confirming = self._confirm()
            if passed(confirming):
                return "width met" if self.bracket.upper else "ceiling passed", confirming
        return "not confirmed", None

    def _bisect(self) -> Verdict | None:
        """Narrow the bracket to the goal's width; a verdict if the search is at its end instead."""
        while not self.bracket.is_closed:
            lower_pps, upper_pps = self.bracket.loads_pps
            assert upper_pps is not None  # noqa: S101 - the ceiling was tried: passed, it closes
            if upper_pps <= self.goal.min_load_pps:
                return "nothing passed"
            if recognise_loss_floor(self.log.samples):
                return "loss floor"
            lowest_pps = self.goal.min_load_pps
            if lower_pps is None and self.goal.narrow_enough(lowest_pps, upper_pps):
                self._trial(lowest_pps)
            else:
                self._trial(((lower_pps or lowest_pps) + upper_pps) / 2)
        return None

    def _trial(self, load_pps: float) -> None:
        self.bracket.add(
            self.log.measure(
                load_pps,
                self.goal.trial_seconds,
                "search",
                bracket=self.bracket.loads_pps,
                trials_left=self._trials_left(),
            )
        )

    def _confirm(self) -> Sample:
        lower = self.bracket.lower
        assert lower is not None  # noqa: S101 - a closed bracket has a lower bound
        sample = self.log.measure(
            lower.intended_load_pps,
            self.goal.confirm_seconds,
            "confirm",
            bracket=self.bracket.loads_pps,
            trials_left=1,
        )
        if not passed(sample):
            self.bracket.add(sample)
            self.log.notes.append(
                f"confirming trial {sample.trial} lost {sample.missing_frames} frames in "
                f"{sample.intended_seconds:g} s at a load that {lower.intended_seconds:g} s had "
                "passed"
            )
        return sample

    def _trials_left(self) -> int:
        lower_pps, upper_pps = self.bracket.loads_pps
        upper_pps = upper_pps or self.goal.max_load_pps
        gap_pps = upper_pps - (lower_pps or self.goal.min_load_pps)
        widths = max(1.0, gap_pps / (upper_pps * self.goal.relative_width))
        return 1 + math.ceil(math.log2(widths))
