"""The three searches held against simulated DUTs whose truth is known.

Pure: the figures come out as rows; `tools/compare_search.py` prints them.
"""

import random
import statistics
from collections.abc import Callable, Iterable, Sequence

from wirespeed.measure.search.search import Goal, Method, SearchResult, search
from wirespeed.measure.search.simulated import SimulatedDut, SimulatedMeasurer
from wirespeed.model.frozen import Frozen

SEEDS = 20
CEILING_PPS = 3e7
"""Highest load; capacities are drawn between a sixth and two thirds of it."""
LOWEST_PPS = 3e4


class Contender(Frozen):
    """A method with its settings."""

    name: str
    method: Method
    goal: Goal


class Attempt(Frozen):
    """One search by one contender of one DUT."""

    dut: str
    contender: str
    seed: int
    truth_pps: float
    result: SearchResult

    @property
    def relative_error(self) -> float | None:
        """(throughput - truth) / truth; None where no throughput was proven."""
        if self.result.throughput_pps is None:
            return None
        return self.result.throughput_pps / self.truth_pps - 1


class Row(Frozen):
    """All attempts of one contender on one kind of DUT."""

    dut: str
    contender: str
    relative_width: float
    searches: int
    proven: int
    """Searches that proved a throughput."""
    floors: int
    """Searches that recognised a loss floor."""
    trials_median: float
    trials_min: int
    trials_max: int
    seconds_median: float
    """Measured seconds of one search, confirmation included."""
    error_median: float | None
    """Of the absolute relative error against the truth; None where nothing was proven."""
    error_worst: float | None
    error_spread: float | None
    """Largest less smallest signed relative error over the searches."""


class GoalCheck(Frozen):
    """Whether `informed` met its goal against one other contender on one kind of DUT."""

    dut: str
    against: str
    ratio_median: float
    """Of trials, `informed` over the other, pair by pair with the same seed."""
    ratio_min: float
    ratio_max: float
    n: int
    error_no_larger: bool
    """Median and worst absolute error both no larger; True where neither proves a throughput,
    which is right for a loss floor."""

    @property
    def met(self) -> bool:
        """At most a third of the trials, with no larger error."""
        return self.ratio_median <= 1 / 3 and self.error_no_larger


def _goal(relative_width: float, **settings: float | int | None) -> Goal:
    return Goal.model_validate(
        {
            "max_load_pps": CEILING_PPS,
            "min_load_pps": LOWEST_PPS,
            "relative_width": relative_width,
            **settings,
        }
    )


INFORMED = Contender(name="informed", method="informed", goal=_goal(0.001))
MLRSEARCH = Contender(name="mlrsearch", method="mlrsearch", goal=_goal(0.005))
CONTENDERS: tuple[Contender, ...] = (
    Contender(name="rfc2544", method="rfc2544", goal=_goal(0.005)),
    Contender(name="rfc2544, 0.1 %", method="rfc2544", goal=_goal(0.001)),
    MLRSEARCH,
    Contender(
        name="mlrsearch, NDR only", method="mlrsearch", goal=_goal(0.005, pdr_loss_ratio=None)
    ),
    Contender(
        name="mlrsearch, NDR only, one trial a load",
        method="mlrsearch",
        goal=_goal(0.005, pdr_loss_ratio=None, exceed_ratio=0.0, trials_per_load=1),
    ),
    INFORMED,
)
"""`mlrsearch` has its library's defaults: NDR and PDR 0.5 %, 21 trials a load, exceed ratio 0.5."""

DUTS: dict[str, Callable[[float], SimulatedDut]] = {
    "cliff": lambda pps: SimulatedDut(capacity_pps=pps),
    "cliff, noise 1e-4": lambda pps: SimulatedDut(capacity_pps=pps, capacity_sigma=1e-4),
    "cliff, noise 1e-3": lambda pps: SimulatedDut(capacity_pps=pps, capacity_sigma=1e-3),
    "cliff, 16384 frames of queue": lambda pps: SimulatedDut(
        capacity_pps=pps, capacity_sigma=1e-4, queue_frames=16384
    ),
    "cliff, stall of 2 ms in 600 s": lambda pps: SimulatedDut(
        capacity_pps=pps, capacity_sigma=1e-4, stalls_per_second=1 / 600, stall_seconds=2e-3
    ),
    "livelock": lambda pps: SimulatedDut(capacity_pps=pps, capacity_sigma=1e-4, livelock_slope=0.3),
    "livelock, cycles known to 2 %": lambda pps: SimulatedDut(
        capacity_pps=pps, capacity_sigma=1e-4, livelock_slope=0.3, prediction_bias=0.02
    ),
    "knee at 90 %": lambda pps: SimulatedDut(
        capacity_pps=pps, capacity_sigma=1e-4, knee_pps=0.9 * pps, knee_loss_ratio=1e-3
    ),
    "knee at 70 %, noise 1e-3": lambda pps: SimulatedDut(
        capacity_pps=pps, capacity_sigma=1e-3, knee_pps=0.7 * pps, knee_loss_ratio=1e-2
    ),
    "loss floor 1e-5": lambda pps: SimulatedDut(
        capacity_pps=pps, capacity_sigma=1e-4, loss_floor=1e-5
    ),
}
"""Each kind by the capacity that a seed draws."""


def attempt(dut: str, contender: Contender, seed: int) -> Attempt:
    """One search; the seed draws the DUT's capacity and its noise."""
    capacity = CEILING_PPS * random.Random(f"capacity {seed}").uniform(1 / 6, 2 / 3)  # noqa: S311
    measurer = SimulatedMeasurer(
        DUTS[dut](capacity), seed=seed, confirm_seconds=contender.goal.confirm_seconds
    )
    return Attempt(
        dut=dut,
        contender=contender.name,
        seed=seed,
        truth_pps=measurer.truth_pps,
        result=search(contender.method, measurer, contender.goal),
    )


def compare(
    duts: Iterable[str] = tuple(DUTS),
    contenders: Sequence[Contender] = CONTENDERS,
    seeds: int = SEEDS,
) -> list[Attempt]:
    """Every contender on every kind of DUT, for seeds 0 up to `seeds`."""
    return [attempt(d, c, seed) for d in duts for c in contenders for seed in range(seeds)]


def rows(attempts: Iterable[Attempt]) -> list[Row]:
    """One row for each DUT and contender, in the order of the attempts."""
    return [_row(group) for group in _grouped(attempts).values()]


def goal_checks(attempts: Iterable[Attempt], against: Sequence[str]) -> list[GoalCheck]:
    """`informed` against each of the named contenders on each kind of DUT."""
    groups = _grouped(attempts)
    duts = dict.fromkeys(dut for dut, _ in groups)
    return [
        _goal_check(groups[dut, INFORMED.name], groups[dut, other])
        for dut in duts
        for other in against
    ]


def _grouped(attempts: Iterable[Attempt]) -> dict[tuple[str, str], list[Attempt]]:
    groups: dict[tuple[str, str], list[Attempt]] = {}
    for one in attempts:
        groups.setdefault((one.dut, one.contender), []).append(one)
    return groups


def _row(group: Sequence[Attempt]) -> Row:
    trials = [a.result.trials for a in group]
    errors = [a.relative_error for a in group if a.relative_error is not None]
    return Row(
        dut=group[0].dut,
        contender=group[0].contender,
        relative_width=group[0].result.tolerance.relative_width,
        searches=len(group),
        proven=len(errors),
        floors=sum(a.result.loss_floor is not None for a in group),
        trials_median=statistics.median(trials),
        trials_min=min(trials),
        trials_max=max(trials),
        seconds_median=statistics.median(a.result.seconds for a in group),
        error_median=statistics.median(map(abs, errors)) if errors else None,
        error_worst=max(map(abs, errors)) if errors else None,
        error_spread=max(errors) - min(errors) if errors else None,
    )


def _goal_check(informed: Sequence[Attempt], other: Sequence[Attempt]) -> GoalCheck:
    ours, theirs = _row(informed), _row(other)
    ratios = [a.result.trials / b.result.trials for a, b in zip(informed, other, strict=True)]
    return GoalCheck(
        dut=ours.dut,
        against=theirs.contender,
        ratio_median=statistics.median(ratios),
        ratio_min=min(ratios),
        ratio_max=max(ratios),
        n=len(ratios),
        error_no_larger=_no_larger(ours, theirs),
    )


def _no_larger(ours: Row, theirs: Row) -> bool:
    """Compare errors; a proof that is missing counts as a larger one, not as a smaller."""
    if ours.proven < theirs.proven:
        return False
    if None in (ours.error_median, theirs.error_median):
        return True
    assert ours.error_median is not None and ours.error_worst is not None  # noqa: S101
    assert theirs.error_median is not None and theirs.error_worst is not None  # noqa: S101
    return ours.error_median <= theirs.error_median and ours.error_worst <= theirs.error_worst
