"""Which approach to take, and why: from what was measured, or from nothing where that says nothing.

One approach is *behind* another in a figure when every value of it is worse than every value of the
other, the runs are so many that chance does so in at most one of ten cases, and the medians are 5 %
apart at least, or by more than the figure can resolve. What is behind nobody is to be taken.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb
from statistics import median

from wirespeed.model.network_trial import FailoverVerdict
from wirespeed.model.spread import Spread
from wirespeed.report import format as fmt
from wirespeed.report.comparison import Comparison, approach_of
from wirespeed.report.comparison_features import simplest_first
from wirespeed.report.proof_answer import answers, is_proven, verdict
from wirespeed.report.proof_page import Proof
from wirespeed.report.proof_tables import named

MATERIAL = 0.05
"""Share of the better median below which a difference is none that decides."""
CHANCE = 0.1
"""That two sets of values of one and the same thing lie apart."""
RESTING_CORES = 0.1
"""A host's own daemons take so much now and then."""
PING_US = 1.0
"""ping keeps whole microseconds, and rounds the mean down (ping_output.c of iputils)."""


@dataclass(frozen=True)
class Figure:
    """One thing that was measured of several approaches."""

    question: str
    name: str
    unit: str
    is_more_better: bool
    by: dict[str, Spread]
    resolution: float = 0.0
    """In its unit: a smaller difference is none."""


@dataclass(frozen=True)
class Choice:
    """The answer to a newcomer."""

    headline: str
    reasons: tuple[str, ...]
    approach: str | None = None
    """The one to take; None where that depends, or nobody can tell."""


def choose(comparison: Comparison) -> Choice:
    """Say which one to take."""
    proven = [proof for proof in comparison.proofs if is_proven(proof)]
    out = tuple(_out(comparison))
    names: list[str] = [proof.opening.spec.approach for proof in proven]
    if not proven:
        return Choice("None can be recommended: none is proven on these hosts.", out)
    listed = _and(names)
    if comparison.emulated:
        works = f"{listed} {'works' if len(names) == 1 else 'work'} as the spec wants"
        return Choice(
            f"{works}. These hosts cannot show which is faster: they are emulated.",
            (*out, "Compare on your own hosts; until then, choose by what each has and lacks."),
        )
    if len(proven) == 1:
        reason = (
            "There is no other approach to compare it with, so its figures are not judged here."
        )
        return Choice(f"Take {listed}: it alone is proven here.", (*out, reason), names[0])
    return _weighed(names, figures(proven), out)


def figures(proofs: list[Proof]) -> tuple[Figure, ...]:
    """Give what was measured of two of them at least."""
    return tuple(one for one in _all_figures(proofs) if len(one.by) > 1)


def is_behind(one: Spread, other: Spread, figure: Figure) -> bool:
    """Tell whether `one` is clearly worse than `other`."""
    worse, better = (one, other) if figure.is_more_better else (other, one)
    is_apart = worse.most < better.least
    by_chance = 2 / comb(one.independent + other.independent, one.independent)
    difference = abs(one.median - other.median)
    is_material = difference >= MATERIAL * max(one.median, other.median)
    return is_apart and by_chance <= CHANCE and is_material and difference > figure.resolution


def _weighed(names: list[str], found: tuple[Figure, ...], out: tuple[str, ...]) -> Choice:
    if not found:
        return Choice(f"{_and(names)} are proven; no figure is there to compare.", out)
    behind = {name: [_losses(name, figure) for figure in found] for name in names}
    reasons = tuple(text for name in names for text in _summed(name, behind[name], found))
    front = [name for name in simplest_first() if name in names and not any(behind[name])]
    reasons = (*reasons, *out)
    if len(front) == 1:
        return Choice(
            f"Take {front[0]}: no other approach is clearly better in any measured figure.",
            reasons,
            front[0],
        )
    if front:
        close = (
            f"{_and([*map(str, front)])} are too close to tell: their values overlap, are of "
            f"too few runs, or are within {100 * MATERIAL:.0f} %. {front[0]} has the fewest parts "
            "to install and to watch."
        )
        return Choice(
            f"Take {front[0]}, unless you need what it lacks: no figure speaks against it.",
            (close, *reasons),
            front[0],
        )
    best = [
        f"{question}: {_and(sorted({*names} - lost))}"
        for question, lost in _lost_by_question(behind, found).items()
        if {*names} - lost
    ]
    return Choice(f"It depends on what counts for you. {'; '.join(best)}.", reasons)


def _losses(name: str, figure: Figure) -> str:
    """Say to whom it loses in a figure; empty: to nobody."""
    own = figure.by.get(name)
    if own is None:
        return ""
    lost = [
        n for n, spread in figure.by.items() if n is not name and is_behind(own, spread, figure)
    ]
    if not lost:
        return ""
    best = max if figure.is_more_better else min
    winner = best(lost, key=lambda n: figure.by[n].median)
    return f"{_shown(own, figure)} beside {_shown(figure.by[winner], figure)} of {winner}"


def _summed(name: str, losses: list[str], found: tuple[Figure, ...]) -> Iterator[str]:
    """Say for each question where it is behind, with the first figure that shows it."""
    for question in dict.fromkeys(figure.question for figure in found):
        of = [(f, text) for f, text in zip(found, losses, strict=True) if f.question == question]
        lost = [(figure, text) for figure, text in of if text]
        if lost:
            figure, text = lost[0]
            yield (
                f"{name} is behind in {question}, in {len(lost)} of {len(of)} figures: "
                f"{figure.name}, {text}"
            )


def _lost_by_question(
    behind: dict[str, list[str]], found: tuple[Figure, ...]
) -> dict[str, set[str]]:
    lost: dict[str, set[str]] = {}
    for name, losses in behind.items():
        for figure, text in zip(found, losses, strict=True):
            if text:
                lost.setdefault(figure.question, set()).add(str(name))
    return lost


def _out(comparison: Comparison) -> Iterator[str]:
    for one in comparison.approaches:
        if isinstance(one, Proof):
            if not is_proven(one):
                lacking = [a for a in answers(one) if a.is_asked and not a.is_proven]
                why = "; ".join(f"{a.figure}, {a.condition}" for a in lacking)
                yield f"{approach_of(one)} is out. {verdict(one)}: {why}"
        else:
            yield f"{one.approach} is out: it was not shown here ({one.what})."


def _all_figures(proofs: list[Proof]) -> Iterator[Figure]:
    of = {str(proof.opening.spec.approach): proof.summary for proof in proofs}
    cells = {
        name: {(c.pair, c.mtu, c.streams, c.bidirectional): c for c in summary.iperf3}
        for name, summary in of.items()
    }
    for key in dict.fromkeys(key for by_key in cells.values() for key in by_key):
        there = {name: by_key[key] for name, by_key in cells.items() if key in by_key}
        first = next(iter(there.values()))
        label = f"{first.name} of {named(first.pair)}"
        bps = {name: _scaled(cell.bps, 1e9) for name, cell in there.items() if cell.bps}
        yield Figure("throughput", label, "Gb/s", is_more_better=True, by=bps)
        for host in dict.fromkeys(h for cell in there.values() for h in cell.host_cores_per_gbps):
            costs = {
                name: cell.host_cores_per_gbps[host]
                for name, cell in there.items()
                if host in cell.host_cores_per_gbps
            }
            name = f"{label}, host {host}"
            yield Figure("host CPU", name, "cores for each Gb/s", is_more_better=False, by=costs)
    for host in dict.fromkeys(host for summary in of.values() for host in summary.idle_cores):
        resting = {n: s.idle_cores[host] for n, s in of.items() if host in s.idle_cores}
        yield Figure(
            "host CPU at rest", f"host {host}", "cores", is_more_better=False, by=resting,
            resolution=RESTING_CORES,
        )  # fmt: skip
    for pair in dict.fromkeys(ping.pair for summary in of.values() for ping in summary.pings):
        means = {
            name: ping.mean_us
            for name, summary in of.items()
            for ping in summary.pings
            if ping.pair == pair and ping.mean_us
        }
        name = f"ping mean of {named(pair)}"
        yield Figure(
            "round trip", name, "us", is_more_better=False, by=means, resolution=PING_US
        )  # fmt: skip
    yield _outages(proofs)


def _outages(proofs: list[Proof]) -> Figure:
    by: dict[str, Spread] = {}
    loads = []
    for proof in proofs:
        trials = [
            trial for trial in proof.summary.failovers if trial.verdict is FailoverVerdict.SURVIVED
        ]
        values = [ms for trial in trials if (ms := trial.longest_outage_ms) is not None]
        loads += [trial.load_pps for trial in trials]
        if values:
            by[proof.opening.spec.approach] = Spread(
                median(values), min(values), max(values), len(values)
            )
    finest = 1000 / min(loads) if loads else 0.0
    name = "outage when a port is lost"
    return Figure("fail-over", name, "ms", is_more_better=False, by=by, resolution=finest)


def _scaled(spread: Spread, unit: float) -> Spread:
    return replace(
        spread,
        median=spread.median / unit,
        least=spread.least / unit,
        most=spread.most / unit,
    )


def _shown(spread: Spread, figure: Figure) -> str:
    median_, least, most = (
        fmt.significant(value, 3) for value in (spread.median, spread.least, spread.most)
    )
    return f"{median_} {figure.unit} ({least} to {most}, n {spread.n})"


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
