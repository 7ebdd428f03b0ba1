"""A ledger of ceilings as a page of text: bars, what bounds each direction, and why. Pure."""

from collections.abc import Callable, Iterator

from wirespeed.model.ceiling import Band, Ceiling, Direction, Ledger
from wirespeed.model.shown import shown
from wirespeed.model.units import load_bps_l1
from wirespeed.report.ledger_bars import ledger_bars, merged_directions
from wirespeed.report.load_text import decimal
from wirespeed.report.text_lines import wrapped


def ceiling_lines(
    ledger: Ledger, payload_bytes: int, *, explain: bool, width: int = 80
) -> Iterator[str]:
    """Give the lines of one path. `payload_bytes`: TCP payload of a frame, 0 for none."""
    yield from ledger_bars(ledger, width)
    if not ledger.ceilings:
        return
    for name, ceilings in merged_directions(ledger):
        yield ""
        yield from _bound(ledger, name, ceilings[0].direction, payload_bytes, width)
    if explain:
        for name, ceilings in merged_directions(ledger):
            yield ""
            yield f"  how, {name}"
            for ceiling in ceilings:
                yield from _explained(ceiling, width)
    else:
        yield ""
        yield "  --explain shows the formulas, and what they were given"


def _bound(
    ledger: Ledger, name: str, direction: Direction, payload_bytes: int, width: int
) -> Iterator[str]:
    may = ledger.may_bound(direction)
    bound, most = ledger.bound(direction), ledger.most(direction)
    if bound is None or most is None:
        return
    band = Band(low=bound.load_pps.low, high=most.load_pps.high)
    what = shown(may[0].element) if len(may) == 1 else " or ".join(shown(c.element) for c in may)
    overlap = ": their bands overlap" if len(may) > 1 else ""
    yield from wrapped(f"{name}: bounded by {what}{overlap}", width, "  ", "    ")
    size = ledger.frame_bytes
    rows = [
        (_band(band, lambda pps: load_bps_l1(pps, size) / 1e9), "Gb/s on the wire (L1)"),
        (_band(band, lambda pps: pps / 1e6), "Mpps"),
    ]
    if payload_bytes:
        goodput = _band(band, lambda pps: pps * 8 * payload_bytes / 1e9)
        rows.insert(1, (goodput, "Gb/s of TCP goodput, as iperf3 counts"))
    columns = max(len(figure) for figure, _ in rows)
    for figure, unit in rows:
        yield f"    {figure.rjust(columns)}  {unit}"


def _band(band: Band, convert: Callable[[float], float]) -> str:
    low, high = decimal(convert(band.low)), decimal(convert(band.high))
    return low if low == high else f"{low} to {high}"


def _explained(ceiling: Ceiling, width: int) -> Iterator[str]:
    yield from wrapped(f"{shown(ceiling.element)} = {ceiling.formula}", width, "    ", "      ")
    for given in ceiling.inputs:
        mark = "assumed, " if given.assumed else ""
        yield from wrapped(
            f"{given.name}: {shown(given.shown)} ({mark}{shown(given.source)})",
            width,
            "      ",
            "        ",
        )
