"""The ceilings of a path as bars in a terminal. Pure."""

from collections.abc import Iterator

from wirespeed.model.ceiling import Ceiling, Direction, Ledger, Quantity
from wirespeed.model.shown import shown
from wirespeed.report.load_text import LoadUnit
from wirespeed.report.text_lines import columns_of, pad, wrapped

LOW, BAND, CUT = "█", "░", "▶"
ASCII = str.maketrans({LOW: "#", BAND: "-", CUT: ">", "…": "~", "·": "|"})
"""For a terminal that has no such characters."""
INDENT, GAP = "    ", "  "
BOUND, MAYBE, NOMINAL = "  < bound", "  < maybe", "  nominal"
MIN_BAR_COLUMNS = 8
TIMES_THE_BOUND = 2.5
"""An element that carries more than this many times what bounds the path is cut: the bars are
about what is near the bound."""


def ledger_bars(ledger: Ledger, width: int = 80) -> list[str]:
    """Draw each element as a bar: solid to the low end of its band, light to its high end.

    What is only reported is light as a whole, and bounds nothing.

    The element that bounds a direction is marked; where bands overlap, each that may. Directions
    that are alike are drawn once. What could not be computed is listed with its reason.
    """
    unit = LoadUnit(ledger.frame_bytes)
    title = f"{shown(ledger.port)}: most that each element carries of {ledger.frame_bytes}-byte "
    at_once = ", both directions at once" if ledger.bidirectional else ""
    lines = wrapped(f"{title}frames, {unit.name}{at_once}", width)
    if ledger.ceilings:
        lines += _directions(ledger, unit, width)
    for reason in ledger.unknown:
        lines += wrapped(shown(reason), width, "  not known: ", "    ")
    if not ledger.ceilings and not ledger.unknown:
        lines.append("  no element of this path has a known ceiling")
    return lines


def merged_directions(ledger: Ledger) -> tuple[tuple[str, tuple[Ceiling, ...]], ...]:
    """Give each direction's name and ceilings; one pair `both directions` when they are alike."""
    by_direction = {d: tuple(c for c in ledger.ceilings if c.direction is d) for d in Direction}
    receive, transmit = ([(c.element, c.load_pps) for c in by_direction[d]] for d in Direction)
    if receive == transmit:
        return (("both directions", by_direction[Direction.RECEIVE]),)
    return tuple((d.value, found) for d, found in by_direction.items() if found)


def full_scale(ledger: Ledger) -> float:
    """Frames per second at the right end of the bars."""
    bounds = [b.load_pps.high for d in Direction if (b := ledger.bound(d)) is not None]
    highest = max((c.load_pps.high for c in ledger.ceilings), default=0.0)
    return min(highest, TIMES_THE_BOUND * max(bounds)) if bounds else highest


def _directions(ledger: Ledger, unit: LoadUnit, width: int) -> Iterator[str]:
    value_columns = max(len(unit.band(c.load_pps)) for c in ledger.ceilings)
    left = width - len(INDENT) - len(GAP) * 2 - value_columns - len(NOMINAL)
    widest = max(columns_of(shown(c.element)) for c in ledger.ceilings)
    label_columns = max(1, min(widest, left - MIN_BAR_COLUMNS))
    bar_columns = max(1, left - label_columns)
    scale = full_scale(ledger)
    for name, ceilings in merged_directions(ledger):
        yield f"  {name}"
        bounds = ledger.may_bound(ceilings[0].direction)
        for ceiling in ceilings:
            bar = _bar(ceiling, scale, bar_columns)
            value = unit.band(ceiling.load_pps).rjust(value_columns)
            mark = "" if ceiling not in bounds else BOUND if len(bounds) == 1 else MAYBE
            mark = NOMINAL if ceiling.kind is Quantity.NOMINAL else mark
            label = pad(shown(ceiling.element), label_columns)
            yield f"{INDENT}{label}{GAP}{bar}{GAP}{value}{mark}"


def _bar(ceiling: Ceiling, scale: float, columns: int) -> str:
    def columns_for(load_pps: float) -> int:
        return round(min(load_pps / scale, 1.0) * columns) if 0 < scale < float("inf") else 0

    low, high = columns_for(ceiling.load_pps.low), columns_for(ceiling.load_pps.high)
    low = 0 if ceiling.kind is Quantity.NOMINAL else low
    bar = LOW * low + BAND * (high - low)
    if ceiling.load_pps.high > scale:
        bar = bar[: columns - 1] + CUT
    return bar.ljust(columns)
