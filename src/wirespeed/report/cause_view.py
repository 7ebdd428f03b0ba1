"""Causes as text and page say them: each with its findings, and in one sentence. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import Cause, Diagnosis, Finding
from wirespeed.report.load_text import LoadUnit
from wirespeed.report.shared_findings import Shared, one_of, shared_findings

THIS_HOST = "this host"
PLACES = 4
"""So many places are named in one sentence."""
DOES = {
    Direction.RECEIVE: ("receives", "each receive"),
    Direction.TRANSMIT: ("sends", "each send"),
}
"""Of one port, and of several."""


@dataclass(frozen=True, slots=True)
class CauseView:
    """A cause, with its findings in the order of work."""

    cause: Cause
    itself: Shared
    before: tuple[Shared, ...]
    effects: tuple[Shared, ...]


def cause_views(diagnosis: Diagnosis) -> tuple[CauseView, ...]:
    """Give the causes with their findings, each kind of finding once."""

    def some(numbers: Sequence[int]) -> tuple[Shared, ...]:
        return shared_findings([diagnosis.findings[number] for number in numbers])

    return tuple(
        CauseView(cause, one_of([diagnosis.findings[n] for n in cause.findings]),
             some(cause.before), some(cause.effects))
        for cause in diagnosis.causes
    )  # fmt: skip


def cost_text(priced: Finding | Cause, unit: LoadUnit) -> str:
    """`costs 40.1 Gb/s` of the dearer direction; empty when it has no price above 0."""
    cost = max((price.cost_pps for price in priced.prices), default=0.0)
    return f"costs {unit.text(cost)} {unit.name}" if cost > 0 else ""


def cause_text(cause: Cause, unit: LoadUnit) -> str:
    """`eth2 reaches at most 47.0 of 94.1 Gb/s: PCIe link narrower than the card supports (x4 now)`.

    Where the directions differ, it is said of the slower one.
    """
    condition = f"{cause.says} ({cause.seen})" if cause.seen else cause.says
    prices = {
        (unit.text(one.now_pps), unit.text(one.after_pps)): one
        for one in sorted(cause.prices, key=lambda one: one.now_pps)
        if one.cost_pps > 0
    }
    if prices:
        (now, after), price = next(iter(prices.items()))
        places = cause.places if cause.priced_at in cause.places else (cause.priced_at,)
        is_one_way = len(prices) > 1 or len(cause.prices) == 1
        verb = DOES[price.direction] if is_one_way else ("reaches", "each reach")
        said = f"{_joined(places)} {verb[len(places) > 1]} at most {now} of {after} {unit.name}"
        return f"{said}: {condition}"
    return condition if cause.places == (THIS_HOST,) else f"{_joined(cause.places)}: {condition}"


def _joined(places: Sequence[str]) -> str:
    """`p0`, `p0 and p1`, `p0, p1, p2, p3 and 4 more`."""
    more = len(places) - PLACES
    named = [*places[:PLACES], *([f"{more} more"] if more > 0 else [])]
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))


def effect_text(effect: Shared) -> str:
    """`pause.sent eth2: 4100 pause frames sent`: what ends with its cause."""
    seen = "; ".join(evidence.found for evidence in effect.finding.evidence[:1])
    return f"{effect.finding.rule} {', '.join(effect.places)}: {seen}"
