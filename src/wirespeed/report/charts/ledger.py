"""The ceilings of a path as bars on one axis."""

from markupsafe import Markup

from wirespeed.model.ceiling import Ceiling, Ledger, Quantity
from wirespeed.model.shown import shown
from wirespeed.report import svg
from wirespeed.report.ledger_bars import CUT, full_scale, merged_directions
from wirespeed.report.load_text import LoadUnit
from wirespeed.report.text_lines import clip, columns_of

ROW, BAR, WIDTH, CHARACTER = 26.0, 15.0, 900.0, 6.4
MAX_LABEL_COLUMNS = 34


def ledger_chart(ledger: Ledger) -> Markup:
    """Draw each element as a bar to the low end of its band, light to the high end."""
    unit = LoadUnit(ledger.frame_bytes)
    labels = {c.element: clip(shown(c.element), MAX_LABEL_COLUMNS) for c in ledger.ceilings}
    if not labels:
        return Markup("")
    left = 16 + CHARACTER * max(columns_of(text) for text in labels.values())
    values = CHARACTER * max(len(unit.band(c.load_pps)) for c in ledger.ceilings) + 16
    scale = (WIDTH - left - values) / (full_scale(ledger) or 1.0)
    parts: list[Markup] = []
    y = 4.0
    for name, ceilings in merged_directions(ledger):
        y += 16
        parts.append(svg.label(4, y, f"{name}, {unit.name}", "axis start"))
        bounds = ledger.may_bound(ceilings[0].direction)
        role = "bounds" if len(bounds) == 1 else "may bound"
        for ceiling in ceilings:
            parts.append(_row(ceiling, labels[ceiling.element], unit, left, y + 6, scale,
                              WIDTH - values, role=role if ceiling in bounds else ""))  # fmt: skip
            y += ROW
        y += 8
    return svg.figure(WIDTH, y, f"{shown(ledger.port)}: ceilings", *parts)


def _row(
    ceiling: Ceiling,
    name: str,
    unit: LoadUnit,
    left: float,
    top: float,
    scale: float,
    right: float,
    *,
    role: str,
) -> Markup:
    low, high = (
        min(left + load_pps * scale, right)
        for load_pps in (ceiling.load_pps.low, ceiling.load_pps.high)
    )
    css = " bound" if role else ""
    low = left if ceiling.kind is Quantity.NOMINAL else low
    role = "only reported: it does not bound" if ceiling.kind is Quantity.NOMINAL else role
    cut = f"{CUT} " if left + ceiling.load_pps.high * scale > right + 1 else ""
    told = f"{shown(ceiling.element)}: {unit.band(ceiling.load_pps)} {unit.name}"
    return svg.element(
        "g",
        {},
        svg.element("title", {}, told + (f", {role} the path" if role else "")),
        svg.label(left - 8, top + 12, name, "axis end"),
        _rect(left, top, low - left, f"s0{css}"),
        _rect(low, top, high - low, f"band{css}"),
        svg.label(high + 6, top + 12, cut + unit.band(ceiling.load_pps), "value start"),
    )


def _rect(x: float, y: float, width: float, css: str) -> Markup:
    return svg.element("rect", {"x": x, "y": y, "width": width, "height": BAR, "class": css})
