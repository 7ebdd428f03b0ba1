"""What a finding costs: the path's ceiling now, and after its remedy alone. Pure."""

from wirespeed.model.ceiling import Direction, Ledger
from wirespeed.model.finding import Finding, Price


def priced(finding: Finding, ledger: Ledger | None) -> Finding:
    """Give the finding with its prices, or with the reason why it has none."""
    if not finding.changes:
        reason = (
            finding.unpriced or "what it costs depends on the traffic: measure before and after"
        )
        return finding.model_copy(update={"unpriced": reason})
    if ledger is None or not ledger.ceilings:
        return finding.model_copy(update={"unpriced": "no ceiling of this path is known"})
    prices = [_price(finding, ledger, direction) for direction in Direction]
    return finding.model_copy(update={"prices": tuple(p for p in prices if p is not None)})


def _price(finding: Finding, ledger: Ledger, direction: Direction) -> Price | None:
    now = ledger.bound(direction)
    after = {c.after.element: c.after for c in finding.changes if c.after.direction is direction}
    if now is None or not after:
        return None
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
