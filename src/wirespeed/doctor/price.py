"""What a finding costs: the path's ceiling now, and after its remedy alone. Pure."""

from wirespeed.model.ceiling import Direction, Ledger
from wirespeed.model.finding import Finding, Price


def priced(finding: Finding, ledger: Ledger | None) -> Finding:
    """Give the finding with its prices, or with the reason why it has neither price nor bound."""
    found = _with_prices(finding, ledger)
    if found.bounds or found.prices:
        return found.model_copy(update={"unpriced": ""})
    return found


def _with_prices(finding: Finding, ledger: Ledger | None) -> Finding:
    if not finding.changes:
        reason = finding.unpriced or "the cost depends on the traffic: measure before and after"
        return finding.model_copy(update={"unpriced": reason})
    if ledger is None or not ledger.ceilings:
        return finding.model_copy(update={"unpriced": "no ceiling of this path is known"})
    prices = [_price(finding, ledger, direction) for direction in Direction]
    known = tuple(p for p in prices if p is not None)
    if not known:
        elements = ", ".join(dict.fromkeys(c.after.element for c in finding.changes))
        reason = finding.unpriced or f"what this path carries now is not known of {elements}"
        return finding.model_copy(update={"unpriced": reason})
    return finding.model_copy(update={"prices": known})


def _price(finding: Finding, ledger: Ledger, direction: Direction) -> Price | None:
    measured = tuple(
        c.now for c in finding.changes if c.now is not None and c.now.direction is direction
    )
    elements = {c.element for c in measured}
    others = tuple(c for c in ledger.ceilings if c.element not in elements)
    now = ledger.model_copy(update={"ceilings": (*others, *measured)}).bound(direction)
    after = {c.after.element: c.after for c in finding.changes if c.after.direction is direction}
    if now is None or not after:
        return None
    if not any(c.element in after for c in ledger.ceilings if c.direction is direction):
        return None  # to say that it costs nothing, one would have to know what it carries now
    kept = tuple(c for c in ledger.ceilings if c.element not in after)
    bound = ledger.model_copy(update={"ceilings": (*kept, *after.values())}).bound(direction)
    if bound is None:
        return None
    return Price(
        direction=direction,
        now_pps=now.load_pps.low,
        after_pps=bound.load_pps.low,
        bound_by_after=bound.element,
    )
