"""What a share of time, or of frames, that is lost costs an element of the path. Pure."""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import WIRES
from wirespeed.model.ceiling import Band, Ceiling, Direction, Input, Ledger
from wirespeed.model.finding import Change

LEAST_SHARE = 0.001
"""Below it a price rounds to nothing: what it costs is what the protocol makes of it."""
LOST_FORMULA = "at least: line rate x share of the frames that were lost during the capture"
PAUSED_FORMULA = "at least: line rate x share of the capture in which pause frames stopped it"


def frames_lost(
    ledger: Ledger, direction: Direction, share: float | None, source: str
) -> tuple[Change, ...]:
    """Give what a share of lost frames costs the link; `source`: the command that counted it."""
    return tuple(_lost_share(ledger, direction, share, "share of frames lost", source))


def time_paused(
    ledger: Ledger, direction: Direction, share: float | None, source: str
) -> tuple[Change, ...]:
    """Give what a share of paused time costs the link; `source`: the command that counted it."""
    return tuple(_lost_share(ledger, direction, share, "share of the time paused", source))


def pause_unpriced(share: float | None, *, is_now: bool) -> str:
    """Why a pause has no price where it has none, and what to do to know it.

    `is_now`: some of it was during the capture; `share`: of that, None where it was not timed.
    """
    if not is_now:
        return "no frame paused it during this capture: capture again under load"
    if share is None:
        return "the card does not time these frames: measure with pause on and off"
    if share < LEAST_SHARE:
        return f"the paused time is less than {100 * LEAST_SHARE:g} %: too little to show"
    return "it costs at least that share of the link's speed, which was not read: see ethtool"


def _lost_share(
    ledger: Ledger, direction: Direction, share: float | None, of: str, source: str
) -> Iterator[Change]:
    """Give the link's ceiling without a share that was measured, and with it.

    At line rate that share of the frames, or of the time in which they could be sent, is gone: a
    lower bound of the cost, as a sender that slows down for it loses more. Nothing is given where
    the share is not known or too small to show, or where the port has no link.
    """
    if share is None or not LEAST_SHARE <= share <= 1:
        return
    for ceiling in ledger.ceilings:
        if (
            ceiling.element not in WIRES
            or ceiling.direction is not direction
            or any(item.assumed for item in ceiling.inputs)
        ):
            continue
        yield Change(after=ceiling, now=_without(ceiling, share, of, source))


def _without(ceiling: Ceiling, share: float, of: str, source: str) -> Ceiling:
    left = 1 - share
    lost = Input(name=of, shown=f"{100 * share:.2g} %", source=source)
    return ceiling.model_copy(
        update={
            "load_pps": Band(low=ceiling.load_pps.low * left, high=ceiling.load_pps.high * left),
            "formula": f"{ceiling.formula} x (1 - {of})",
            "inputs": (*ceiling.inputs, lost),
        }
    )
