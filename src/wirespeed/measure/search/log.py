"""The book that every search keeps: trials made, what passed, what failed, what is left to say."""

from collections.abc import Iterable

from wirespeed.measure.search.floor import recognise_loss_floor
from wirespeed.measure.search.goal import (
    Goal,
    Method,
    Observer,
    Progress,
    SearchResult,
    Tolerance,
    Verdict,
)
from wirespeed.measure.search.measurer import Measurer, Purpose, Sample
from wirespeed.measure.search.sample import counted_pps
from wirespeed.model.error import MeasurementError

PACING_TOLERANCE = 1e-3
"""The tester's own promise: offered within 0.1 % of intended. More than this is unsent frames."""


class TrialsExhaustedError(Exception):
    """The goal's `max_trials` are used up: raised instead of the next trial, caught by a search."""


def unsent_frames(sample: Sample) -> int:
    """Frames that were due and never offered; 0 while pacing explains the difference.

    A load that was not offered was not passed either, so a search must see these.
    """
    intended = max(1, int(sample.intended_load_pps * sample.intended_seconds))
    unsent = intended - sample.offered_frames
    return unsent if unsent > 1 and unsent > intended * PACING_TOLERANCE else 0


def passed(sample: Sample) -> bool:
    """Zero loss at the intended load. Nothing offered is no pass, nor is a surplus of frames."""
    return sample.offered_frames > 0 and sample.missing_frames == 0 and not unsent_frames(sample)


class SearchLog:
    """Makes trials through the injected measurer, remembers them, and sums them up."""

    def __init__(
        self, method: Method, measurer: Measurer, goal: Goal, observe: Observer | None
    ) -> None:
        self.method, self.goal = method, goal
        self._measurer, self._observe = measurer, observe
        self.samples: list[Sample] = []
        self.notes: list[str] = []

    def measure(
        self,
        load_pps: float,
        seconds: float,
        purpose: Purpose,
        *,
        bracket: tuple[float | None, float | None],
        trials_left: int,
    ) -> Sample:
        """One trial, announced to the observer first. Raises TrialsExhaustedError at the bound."""
        if len(self.samples) >= self.goal.max_trials:
            raise TrialsExhaustedError
        if self._observe:
            confirm_left = 0.0 if purpose == "confirm" else self.goal.confirm_seconds
            self._observe(
                Progress(
                    method=self.method,
                    purpose=purpose,
                    load_pps=load_pps,
                    seconds=seconds,
                    lower_load_pps=bracket[0],
                    upper_load_pps=bracket[1],
                    trials_done=len(self.samples),
                    trials_left=max(1, trials_left),
                    seconds_left=seconds
                    + max(0, trials_left - 2) * self.goal.trial_seconds
                    + confirm_left,
                )
            )
        sample = self._measurer.measure(load_pps, seconds, purpose)
        if not sample.measured_seconds > 0:
            raise MeasurementError(
                "search.trial_without_duration",
                where=f"trial {sample.trial}",
                found=f"measured_seconds {sample.measured_seconds}",
                so="no forwarding rate can be computed from it",
                next="report this: the tester must not call such a trial valid",
            )
        self.samples.append(sample)
        return sample

    def result(
        self,
        verdict: Verdict,
        *,
        found: Sample | None,
        upper: Sample | None,
        confirmed: Sample | None,
        pdr_load_pps: float | None = None,
        pdr_loss_ratio: float | None = None,
        exceed_ratio: float = 0.0,
    ) -> SearchResult:
        """Sum up as it stands; a loss floor is looked for in every trial that was made."""
        floor = recognise_loss_floor(self.samples)
        if floor and pdr_load_pps is None:
            pdr_load_pps, pdr_loss_ratio = floor.knee_load_pps, floor.knee_loss_ratio
        speaks = confirmed or _last(s for s in self.samples if not passed(s))
        return SearchResult(
            method=self.method,
            verdict=verdict,
            tolerance=Tolerance(
                relative_width=self.goal.relative_width, loss_ratio=0.0, exceed_ratio=exceed_ratio
            ),
            found_load_pps=found.intended_load_pps if found else None,
            upper_load_pps=upper.intended_load_pps if upper else None,
            upper_trial=upper.trial if upper else None,
            throughput_pps=counted_pps(confirmed) if confirmed else None,
            confirmed_seconds=confirmed.intended_seconds if confirmed else 0.0,
            confirmed_trial=confirmed.trial if confirmed else None,
            lost_frames=speaks.missing_frames if speaks else 0,
            pdr_load_pps=pdr_load_pps,
            pdr_loss_ratio=pdr_loss_ratio,
            trials=len(self.samples),
            invalid_trials=sum(s.invalid_trials for s in self.samples),
            seconds=sum(s.measured_seconds for s in self.samples),
            loss_floor=floor.loss_ratio if floor else None,
            notes=tuple(self.notes),
        )


def _last(samples: Iterable[Sample]) -> Sample | None:
    return max(samples, key=lambda s: s.trial, default=None)
