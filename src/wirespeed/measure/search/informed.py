"""A search that predicts: every failed trial says by its counts where zero loss should begin.

    probe      an overload: its forwarding rate predicts the cliff
    above      just over the prediction: fails, and predicts again under a mild overload
    below      just under it: passes; at once as the confirming trial if the first two agree
    otherwise  the prediction was wrong: see `_next_load` for each way that it can be

In the best case that is three trials at any width. A prediction only chooses the next load. What
passed and what failed is decided by trials alone, and where predictions do not close the bracket
it is halved.
"""

from typing import Literal, NamedTuple

from wirespeed.measure.search.bracket import Bracket
from wirespeed.measure.search.crossing import (
    implied_capacity_pps,
    is_soft,
    no_less_loss,
    predict_cliff,
    predict_knee,
)
from wirespeed.measure.search.floor import SPAN, recognise_loss_floor
from wirespeed.measure.search.goal import Goal, Observer, SearchResult, Verdict
from wirespeed.measure.search.log import SearchLog, TrialsExhaustedError, passed
from wirespeed.measure.search.measurer import Measurer, Sample

ASIDE = 0.4
"""Distance from the prediction to a trial on either side of it, in widths: the two make a bracket
of 0.8 widths and leave the rest to noise."""
STEP = 0.9
"""First step, in widths, beyond a bound that was a surprise: the bracket still meets the goal."""
GROWTH = 3.0
"""Factor from each step to the next while surprises go on."""
NEARBY = 4.0
"""From so many widths below the capacity that a failed full-length trial implies, short trials,
which queues help, say little."""
AGREEMENT = 0.25
"""Predictions that differ by less than this, in widths, agree."""
LIVELOCK = 0.05
"""The probe is taken to have pushed the DUT below its capacity if cycles per packet promise this
much more than it forwarded."""
MILD_OVERLOAD = 1.05
"""First probe over an expected load: enough to fail if the expectation is right."""
SUSPECT_AFTER = 3
"""Failures in a row, each as lossy as the last, that make a loss floor likely."""
FLOOR_FRAMES = 20.0
"""Frames that a trial far below should lose if there is a floor: none lost is then no chance."""
REPEATS = 2
"""More trials of one load whose failure nothing explains; once in a search."""

Expected = Literal["pass", "fail", "unknown"]


class Choice(NamedTuple):
    """The next load and what the prediction expects of it."""

    load_pps: float
    expected: Expected
    crossing_pps: float | None = None
    """Capacity that the failed trials predicted when the load was chosen."""


def search_informed(
    measurer: Measurer, goal: Goal, observe: Observer | None = None
) -> SearchResult:
    """Search by prediction, at most `goal.max_trials` trials, the confirming ones counted."""
    return _InformedSearch(measurer, goal, observe).search()


class _InformedSearch:
    def __init__(self, measurer: Measurer, goal: Goal, observe: Observer | None) -> None:
        self.goal = goal
        self.log = SearchLog("informed", measurer, goal, observe)
        self.bracket = Bracket(goal)
        self.surprising_fails = 0
        """Trials in a row that should have passed and failed."""
        self.surprising_passes = 0
        """Trials in a row that should have failed and passed."""
        self.slow_trials = 0
        """Trials in a row that left more than half of the bracket."""
        self.failed_confirmations = 0
        # The more trials have to pass in a row, the more of them meet a machine's bad moment.
        self.failures_most = goal.max_confirmations * goal.confirmations
        self.doubted = 0
        self.prediction_used = False
        self.repeated = False

    def search(self) -> SearchResult:
        try:
            verdict = self._search()
        except TrialsExhaustedError:
            verdict = self.bracket.proven or "trials exhausted"
            self.log.notes.append(f"stopped after max_trials = {self.goal.max_trials}")
        confirmed = self.bracket.confirmed if verdict != "loss floor" else None
        return self.log.result(
            verdict,
            found=confirmed or self.bracket.lower,
            upper=self.bracket.upper,
            confirmed=confirmed,
        )

    def _search(self) -> Verdict:
        expected = self.goal.expected_load_pps
        first = self.goal.max_load_pps
        if expected is not None:
            first = min(first, max(self.goal.min_load_pps, expected * MILD_OVERLOAD))
        self._try(Choice(first, "unknown"), self.goal.trial_seconds)
        while True:
            lower, upper = self.bracket.lower, self.bracket.upper
            if self.bracket.is_closed:
                assert lower is not None  # noqa: S101 - a closed bracket has a lower bound
                if self.bracket.proven and lower is self.bracket.confirmed:
                    if self._stays_confirmed(lower) and self._upper_stands():
                        return self.bracket.proven
                    continue
                if self.failed_confirmations >= self.failures_most:
                    return self.bracket.proven or "not confirmed"
                self._try(Choice(lower.intended_load_pps, "pass"), self.goal.confirm_seconds)
                continue
            if self.failed_confirmations >= self.failures_most:
                return self.bracket.proven or "not confirmed"
            if upper is None:
                self._try(Choice(self.goal.max_load_pps, "unknown"), self.goal.trial_seconds)
            elif upper.intended_load_pps <= self.goal.min_load_pps:
                return "nothing passed"
            elif recognise_loss_floor(self.log.samples):
                return "loss floor"
            else:
                choice = self._next_load(lower, upper)
                choice = choice._replace(load_pps=max(choice.load_pps, self.goal.min_load_pps))
                self._try(choice, self._seconds_for(choice))

    # Trials

    def _try(self, choice: Choice, seconds: float) -> None:
        gap_before = self.bracket.gap_pps
        sample = self._measure(choice, seconds)
        if not passed(sample) and choice.expected == "pass" and self._is_unexplained(sample):
            sample = self._repeat(choice, sample)
        self._say_what_contradicts(sample)
        self.bracket.add(sample)
        if passed(sample):
            self.surprising_passes += choice.expected == "fail"
            if choice.expected == "pass":
                self.surprising_fails = 0
        else:
            self.surprising_passes = 0
            if choice.expected == "pass" or self._sinks(choice, sample):
                self.surprising_fails += 1
            if choice.expected == "pass":
                self.failed_confirmations += seconds > self.goal.trial_seconds
        gap = self.bracket.gap_pps
        halved = gap_before is None or gap is None or gap <= gap_before / 2
        self.slow_trials = 0 if halved else self.slow_trials + 1

    def _stays_confirmed(self, lower: Sample) -> bool:
        """Whether the load passes as many confirming trials as are asked for."""
        seconds = self.goal.confirm_seconds
        load = lower.intended_load_pps, seconds
        same = [s for s in self.log.samples if (s.intended_load_pps, s.intended_seconds) == load]
        # A failure of the load that was taken back has confirmed nothing.
        for _ in range(self.goal.confirmations - sum(map(passed, same))):
            again = self._measure(Choice(lower.intended_load_pps, "pass"), seconds)
            self.bracket.add(again)
            if not passed(again):
                self.failed_confirmations += 1
                return False
        return True

    def _upper_stands(self) -> bool:
        """Whether the load that failed fails once more: a machine may be slow for a second."""
        upper = self.bracket.upper
        if upper is None or self.doubted >= self.goal.doubts:
            return True
        self.doubted += 1
        load = Choice(upper.intended_load_pps, "unknown")
        again = self._measure(load, self.goal.confirm_seconds)
        self.bracket.add(again)
        if not passed(again):
            return True
        self.bracket.take_back(upper)
        self.surprising_fails = self.slow_trials = 0
        self.log.notes.append(
            f"trial {upper.trial} lost {upper.missing_frames} frames at "
            f"{upper.intended_load_pps:.0f} pps, and the same load then passed as trial "
            f"{again.trial}: its failure does not count"
        )
        return False

    def _measure(self, choice: Choice, seconds: float) -> Sample:
        full = seconds >= self.goal.confirm_seconds
        return self.log.measure(
            choice.load_pps,
            seconds,
            "confirm" if full else "search" if self.log.samples else "probe",
            bracket=self.bracket.loads_pps,
            trials_left=1 if full else max(2, 4 - len(self.log.samples)),
        )

    def _is_unexplained(self, sample: Sample) -> bool:
        """Whether the capacity that the other failed trials agree on would have carried this one.

        Only a capacity that changed, or a loss that has nothing to do with the load, explains such
        a failure. Once in a search; a second one is believed.
        """
        if self.repeated or self.surprising_fails or len(self.bracket.fails) < 2:
            return False
        implied = sorted(implied_capacity_pps(s) for s in self.bracket.fails)
        spread = max(implied[-1] - implied[0], self._widths(0.05) * implied[0])
        return implied[0] - implied_capacity_pps(sample) > 6 * spread

    def _sinks(self, choice: Choice, failed: Sample) -> bool:
        """Whether the trial implies less capacity than was predicted: a knee, or livelock's end."""
        predicted = choice.crossing_pps
        return predicted is not None and implied_capacity_pps(failed) < predicted * (
            1 - self._widths(ASIDE)
        )

    def _repeat(self, choice: Choice, failed: Sample) -> Sample:
        """Best of three: the load passes only if two more trials lose nothing, and it is said."""
        self.repeated = True
        last = failed
        for repeat in range(1, REPEATS + 1):
            last = self._measure(choice, failed.intended_seconds)
            if not passed(last):
                self.log.notes.append(
                    f"trial {failed.trial} lost {failed.missing_frames} frames at a load that the "
                    f"other trials' capacity would carry; repeat {repeat} lost "
                    f"{last.missing_frames}: the load failed"
                )
                return last
        self.log.notes.append(
            f"trial {failed.trial} lost {failed.missing_frames} frames at a load that the other "
            f"trials' capacity would carry; {REPEATS} repeats lost none: the load passed, 1 of "
            f"{REPEATS + 1} trials of it did not"
        )
        return last

    def _say_what_contradicts(self, sample: Sample) -> None:
        """Note a load that failed after it or a higher one had passed: the failure counts."""
        if passed(sample):
            return
        higher = [s for s in self.bracket.passes if s.intended_load_pps >= sample.intended_load_pps]
        if higher:
            self.log.notes.append(
                f"trial {sample.trial} of {sample.intended_seconds:g} s lost "
                f"{sample.missing_frames} frames at {sample.intended_load_pps:.0f} pps although "
                f"trial {higher[-1].trial} of {higher[-1].intended_seconds:g} s had passed "
                f"{higher[-1].intended_load_pps:.0f} pps: the failure counts"
            )

    def _seconds_for(self, choice: Choice) -> float:
        """Full length where a short trial would tell nothing, or where it would be wasted."""
        load_pps = choice.load_pps
        short_says_nothing = any(
            s.intended_load_pps >= load_pps for s in self.bracket.passes
        ) or any(
            s.intended_seconds >= self.goal.confirm_seconds
            and load_pps >= implied_capacity_pps(s) * (1 - self._widths(NEARBY))
            for s in self.bracket.fails
        )
        if short_says_nothing or (choice.expected == "pass" and self._predictions_agree()):
            return self.goal.confirm_seconds
        floor = self._suspected_floor()
        if floor is not None:
            needed = FLOOR_FRAMES / (max(floor.loss_ratio, 1e-12) * load_pps)
            return min(self.goal.confirm_seconds, max(self.goal.trial_seconds, needed))
        return self.goal.trial_seconds

    # Where to look next

    def _next_load(self, lower: Sample | None, upper: Sample) -> Choice:
        """Choose a load inside the bracket. `lower` and `upper` are not yet close enough.

        Refuted upwards (a load above the prediction passed): the probe had pushed the DUT below
        its capacity, or noise. Refuted downwards (a load below it failed): a soft knee, a floor,
        a stall, or noise. Not closing in: halve.
        """
        upper_pps = upper.intended_load_pps
        lower_pps = lower.intended_load_pps if lower else None
        if lower_pps is not None and self.slow_trials >= 2:
            return Choice((lower_pps + upper_pps) / 2, "unknown")
        crossing = self._crossing()
        if lower_pps is not None and crossing <= lower_pps:
            return self._above_a_surprising_pass(lower_pps, upper_pps)
        promised = self._promised_by_cycles(crossing * (1 + LIVELOCK), upper_pps)
        if promised:
            return promised
        above = crossing * (1 + self._widths(ASIDE))
        above_is_news = lower_pps is not None or not self.surprising_fails
        if above_is_news and upper_pps > above * (1 + self._widths(ASIDE)):
            return Choice(above, "fail", crossing)
        return self._below(crossing, lower_pps, upper_pps)

    def _crossing(self) -> float:
        """Predict the cliff; or the knee, where trials show one and a lower load passed."""
        if self.bracket.lower and is_soft(self.bracket.fails, self.goal.relative_width):
            knee = predict_knee(self.bracket.fails)
            if knee is not None:
                return knee
        return predict_cliff(self.bracket.fails, self.goal.relative_width)

    def _above_a_surprising_pass(self, lower_pps: float, upper_pps: float) -> Choice:
        promised = self._promised_by_cycles(lower_pps * (1 + self._widths(1)), upper_pps)
        if promised:
            return promised
        load = lower_pps * (1 + self._widths(STEP))
        if self.surprising_passes > 1 or load > upper_pps * (1 - self._widths(AGREEMENT)):
            # Halfway to the upper bound is, at worst, an overload milder than the probe's.
            return Choice((lower_pps + upper_pps) / 2, "unknown")
        return Choice(load, "fail")

    def _promised_by_cycles(self, above_pps: float, below_pps: float) -> Choice | None:
        """Just over what the DUT's cycles per packet allow, if that is news; once in a search."""
        promised = self.log.samples[-1].predicted_capacity_pps
        if self.prediction_used or promised is None:
            return None
        load = promised * (1 + self._widths(ASIDE))
        if not above_pps < load < below_pps:
            return None
        self.prediction_used = True
        return Choice(load, "fail")

    def _below(self, crossing: float, lower_pps: float | None, upper_pps: float) -> Choice:
        load = crossing * (1 - self._widths(ASIDE))
        if self.surprising_fails:
            load = min(load, self._below_a_surprising_fail(upper_pps))
        if lower_pps is not None and load <= lower_pps * (1 + self._widths(0.1)):
            return Choice((lower_pps + upper_pps) / 2, "unknown")
        return Choice(load, "pass")

    def _below_a_surprising_fail(self, upper_pps: float) -> float:
        floor = self._suspected_floor()
        if floor is not None:
            top_pps = floor.intended_load_pps
            return top_pps / 2 if upper_pps > top_pps / 2 else upper_pps / (SPAN / 2)
        step = self._widths(STEP) * GROWTH ** (self.surprising_fails - 1)
        load = upper_pps * (1 - min(step, 1 - 1 / SPAN))
        knee = predict_knee(self.bracket.fails)
        if knee is not None:
            # Two close trials are a short lever: go no further than two steps ahead on it.
            furthest = upper_pps * (1 - min(step * GROWTH**2, 1 - 1 / SPAN))
            load = min(load, max(knee * (1 - self._widths(ASIDE)), furthest))
        return load

    def _suspected_floor(self) -> Sample | None:
        """Highest of the surprising failures, if the lowest one lost no smaller a share."""
        if self.surprising_fails < SUSPECT_AFTER:
            return None
        surprising = self.bracket.fails[-self.surprising_fails :]
        top, bottom = surprising[0], surprising[-1]
        return top if no_less_loss(bottom, top) else None

    def _predictions_agree(self) -> bool:
        """Whether every failed trial so far implies the same capacity: a clean cliff."""
        if len(self.bracket.fails) < 2 or self.surprising_fails:
            return False
        implied = sorted(implied_capacity_pps(s) for s in self.bracket.fails)
        return implied[-1] - implied[0] <= self._widths(AGREEMENT) * implied[-1]

    def _widths(self, count: float) -> float:
        return count * self.goal.relative_width
