"""Latency percentiles at throughput per frame size, on a logarithmic axis."""

from collections.abc import Callable
from math import log10

from markupsafe import Markup

from wirespeed.model.trial import Latency
from wirespeed.report import format as fmt
from wirespeed.report import svg
from wirespeed.report.page import DutSection, Missing, Result
from wirespeed.report.tables.latency import latency_ns
from wirespeed.report.tables.rows import chosen

PERCENTILES = (
    ("p50", "latency_ns_p50"),
    ("p90", "latency_ns_p90"),
    ("p99", "latency_ns_p99"),
    ("p99.9", "latency_ns_p999"),
    ("most", "latency_ns_max"),
)


def latency(dut: DutSection) -> Markup:
    """Draw one stem per result; nothing when no latency is known."""
    known = [(r, r.latency) for _, r in chosen(dut) if not isinstance(r.latency, Missing)]
    values = [max(latency_ns(lat, f), 1) / 1000 for _, lat in known for _, f in PERCENTILES]
    if not values:
        return Markup("")
    left, top, bottom, height, step = 52.0, 26.0, 44.0, 320.0, 112.0
    width = left + step * len(known) + 8
    ticks = svg.decades(min(values), max(values))
    base = height - bottom
    scale = (base - top) / (log10(ticks[-1]) - log10(ticks[0]))

    def height_of(us: float) -> float:
        return base - (log10(us) - log10(ticks[0])) * scale

    parts = [svg.label(8, top - 12, "µs", "axis start")]
    for tick in ticks:
        y = height_of(tick)
        parts.append(svg.line(left, y, width - 8, y, "rule"))
        parts.append(svg.label(left - 6, y + 4, svg.tick_text(tick), "axis end"))
    for place, (r, lat) in enumerate(known):
        x = left + place * step + 18
        parts.extend(_percentiles(x, lat, r, height_of))
        parts.append(svg.label(x + 14, base + 18, r.outcome.mix.label, "axis middle"))
    parts.append(svg.label(left + (width - left) / 2, height - 6, "Frame, B", "axis middle"))
    return svg.figure(width, height, f"Latency at throughput of {dut.name}", *parts)


def _percentiles(
    x: float, lat: Latency, r: Result, height_of: Callable[[float], float]
) -> list[Markup]:
    """Draw a stem from the median to the maximum with a labelled tick at each percentile."""
    points = [(n, max(latency_ns(lat, f), 1) / 1000) for n, f in PERCENTILES]
    parts = [svg.line(x, height_of(points[0][1]), x, height_of(points[-1][1]), "stem")]
    # Labels give way upwards: percentiles may lie closer together than a line of text.
    label_y = height_of(points[0][1]) + 3 + 11
    for name, us in points:
        y = height_of(us)
        label_y = min(y + 3, label_y - 11)
        title = svg.element(
            "title",
            {},
            f"{fmt.frame(r.outcome.mix.label)}: {name} {fmt.microseconds(us * 1000)} µs",
        )
        mark = svg.element("circle", {"cx": x, "cy": y, "r": 3.2, "class": "s0"})
        text = f"{fmt.microseconds(us * 1000)} {name}"
        parts.append(
            svg.element("g", {}, title, mark, svg.label(x + 7, label_y, text, "value start"))
        )
    return parts
