"""What passed and what failed: the bracket that holds the throughput."""

from wirespeed.measure.search.goal import Goal, Verdict
from wirespeed.measure.search.log import passed
from wirespeed.measure.search.measurer import Sample
from wirespeed.measure.search.sample import counted_pps


class Bracket:
    """The lowest failure is the upper bound and stands; only what passed below it counts."""

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.passes: list[Sample] = []
        self.fails: list[Sample] = []

    def add(self, sample: Sample) -> None:
        """Take in the verdict of one more trial."""
        (self.passes if passed(sample) else self.fails).append(sample)

    def take_back(self, failed: Sample) -> None:
        """Believe no failure of this load any more."""
        self.fails = [s for s in self.fails if s.intended_load_pps != failed.intended_load_pps]

    @property
    def upper(self) -> Sample | None:
        """Lowest load that failed."""
        return min(self.fails, key=lambda s: s.intended_load_pps, default=None)

    @property
    def lower(self) -> Sample | None:
        """Highest pass below everything that failed; the longest trial of that load."""
        return self._highest_pass(0.0)

    @property
    def confirmed(self) -> Sample | None:
        """Highest pass of the full duration below everything that failed."""
        return self._highest_pass(self.goal.confirm_seconds)

    @property
    def proven(self) -> Verdict | None:
        """What the confirmed load proves against the upper bound; None if none is confirmed."""
        confirmed, upper = self.confirmed, self.upper
        if confirmed is None:
            return None
        if upper is None:
            at_ceiling = confirmed.intended_load_pps >= self.goal.max_load_pps
            return "ceiling passed" if at_ceiling else "wider than goal"
        narrow = self.goal.narrow_enough(confirmed.intended_load_pps, upper.intended_load_pps)
        return "width met" if narrow else "wider than goal"

    @property
    def loads_pps(self) -> tuple[float | None, float | None]:
        """Lower and upper bound; None for an end that is open."""
        lower, upper = self.lower, self.upper
        return (
            lower.intended_load_pps if lower else None,
            upper.intended_load_pps if upper else None,
        )

    @property
    def gap_pps(self) -> float | None:
        """Upper less lower bound; None while an end is open."""
        lower_pps, upper_pps = self.loads_pps
        return None if lower_pps is None or upper_pps is None else upper_pps - lower_pps

    @property
    def is_closed(self) -> bool:
        """Whether it meets the width, or its lower end is the highest load there is."""
        lower_pps, upper_pps = self.loads_pps
        if lower_pps is None:
            return False
        if upper_pps is None:
            return lower_pps >= self.goal.max_load_pps
        return self.goal.narrow_enough(lower_pps, upper_pps)

    def _highest_pass(self, seconds: float) -> Sample | None:
        upper = self.upper
        below = [
            s
            for s in self.passes
            if s.intended_seconds >= seconds
            and (upper is None or s.intended_load_pps < upper.intended_load_pps)
        ]
        # Of several trials of one load, the one with the lowest rate.
        return max(
            below,
            key=lambda s: (s.intended_load_pps, s.intended_seconds, -counted_pps(s)),
            default=None,
        )
