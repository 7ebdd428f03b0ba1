"""In which order findings stand: what costs most and can be changed first. Pure."""

from wirespeed.model.finding import ByHand, Finding, Severity

FIRST, HARDWARE, UNSEEN, BOUNDED = range(4)
"""What costs now and can be changed where the host stands; what only other hardware changes; what
costs nothing that can be seen; what only other hardware changes, and costs nothing now."""
NEEDS_HARDWARE = (ByHand.HARDWARE, ByHand.BIOS)
IMPOSSIBLE = "measured.above_ceiling"
"""What is compared with an impossible figure means nothing: it is said before all that is found."""


def rank(finding: Finding) -> tuple[bool, bool, int, float, int, str, str]:
    """Notes last; faults before ceilings of the hardware; then the dearest, then by severity.

    Loss or pause that was counted is what some cause brings about: it does not go before the cause.
    A bound ranks nothing.
    """
    cost = 0.0 if is_symptom(finding) else max((p.cost_pps for p in finding.prices), default=0.0)
    order = list(Severity).index(finding.severity)
    return (
        finding.severity is Severity.NOTE,
        finding.rule != IMPOSSIBLE,
        _tier(finding, cost),
        -cost,
        order,
        finding.rule,
        finding.where,
    )


def is_symptom(finding: Finding) -> bool:
    """Whether its price is of frames that were counted: lost, or held back by pauses."""
    return any(change.now is not None for change in finding.changes)


def _tier(finding: Finding, cost: float) -> int:
    """Faults come before a ceiling that nothing on this host lifts, whatever that one costs."""
    if finding.severity is Severity.FAULT:
        return FIRST
    if finding.severity is Severity.CEILING and is_of_hardware(finding):
        return HARDWARE if cost > 0 else BOUNDED
    return FIRST if cost > 0 or finding.severity is Severity.CEILING else UNSEEN


def is_of_hardware(finding: Finding) -> bool:
    """Whether every remedy is another slot, card or cable, or a BIOS setting; or there is none."""
    return all(remedy.by_hand in NEEDS_HARDWARE for remedy in finding.remedies)
