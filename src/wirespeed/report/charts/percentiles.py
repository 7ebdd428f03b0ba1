"""Latency percentiles of trials side by side: by load, or over time. A logarithmic axis."""

from collections.abc import Sequence
from math import log10

from markupsafe import Markup

from wirespeed.model.trial import Trial
from wirespeed.report import format as fmt
from wirespeed.report import svg

DRAWN = (
    ("p50", "latency_ns_p50", "s0"),
    ("p99", "latency_ns_p99", "s1"),
    ("p99.99", "latency_ns_p9999", "s2"),
    ("most", "latency_ns_max", "s3"),
)


def percentiles(name: str, axis: str, steps: Sequence[tuple[str, Trial]]) -> Markup:
    """Draw a column of marks for each trial that counts, under its label; nothing without one."""
    known = [(label, t) for label, t in steps if t.valid and t.latency is not None]
    marks = [
        (place, word, css, ns / 1000)
        for place, (_, t) in enumerate(known)
        for word, field, css in DRAWN
        if (ns := getattr(t.latency, field))
    ]
    if not marks:
        return Markup("")
    left, top, height = 52.0, 40.0, 280.0
    base, step = height - 40, max(14.0, min(44.0, 900 / len(known)))
    width = left + max(step * len(known), 220.0) + 8
    ticks = svg.decades(min(us for *_, us in marks), max(us for *_, us in marks))
    scale = (base - top) / (log10(ticks[-1]) - log10(ticks[0]))
    parts = [svg.label(8, 12, "µs", "axis start")]
    for number, (word, _, css) in enumerate(DRAWN):
        x = left + 54 * number
        parts.append(svg.element("circle", {"cx": x, "cy": 20, "r": 3.2, "class": css}))
        parts.append(svg.label(x + 7, 24, word, "value start"))
    for tick in ticks:
        y = base - (log10(tick) - log10(ticks[0])) * scale
        parts.append(svg.line(left, y, width - 8, y, "rule"))
        parts.append(svg.label(left - 6, y + 4, svg.tick_text(tick), "axis end"))
    for place, word, css, us in marks:
        x, y = left + step * (place + 0.5), base - (log10(us) - log10(ticks[0])) * scale
        said = f"{known[place][0]}: {word} {fmt.microseconds(us * 1000)} µs"
        title = svg.element("title", {}, said)
        parts.append(svg.element("circle", {"cx": x, "cy": y, "r": 3.2, "class": css}, title))
    every = max(1, round(44 / step))
    for place, (label, _) in enumerate(known):
        if place % every == 0:
            parts.append(svg.label(left + step * (place + 0.5), base + 16, label, "axis middle"))
    parts.append(svg.label(left + (width - left) / 2, height - 6, axis, "axis middle"))
    return svg.figure(width, height, name, *parts)
