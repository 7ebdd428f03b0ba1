"""Bars in groups on one axis of Mpps, their values above them."""

from typing import NamedTuple

from markupsafe import Markup

from wirespeed.report import format as fmt
from wirespeed.report import svg
from wirespeed.report.page import Missing


class Bar(NamedTuple):
    """One bar of a group: its height in pps, or the reason why it has none."""

    series: str
    css: str
    pps: float | Missing
    told: str
    """What a reader sees on hovering."""


def bars(name: str, groups: dict[str, list[Bar]]) -> Markup:
    """Draw one group of bars per frame size; nothing when there is none."""
    if not groups:
        return Markup("")
    left, top, bottom, height, gap = 52.0, 34.0, 44.0, 330.0, 18.0
    widest = max(len(bars) for bars in groups.values())
    bar_width = max(24.0, min(52.0, (1050.0 - left) / len(groups) / widest - gap / widest))
    # A mix has a long name, which must not run into its neighbour's.
    group_width = max(widest * bar_width + gap, *(6.6 * len(mix) + 8 for mix in groups))
    width = left + group_width * len(groups) + 8
    heights = [b.pps for bars in groups.values() for b in bars if not isinstance(b.pps, Missing)]
    ticks = svg.linear_ticks(0.0, max(heights, default=1e6) / 1e6, 5)
    base, scale = height - bottom, (height - top - bottom) / ticks[-1]
    parts = [svg.label(left - 44, top - 18, "Mpps", "axis start")]
    for tick in ticks:
        y = base - tick * scale
        parts.append(svg.line(left, y, width - 8, y, "rule" if tick else "base"))
        parts.append(svg.label(left - 6, y + 4, svg.tick_text(tick), "axis end"))
    for place, (mix, bars) in enumerate(groups.items()):
        start = left + (place + 0.5) * group_width - len(bars) * bar_width / 2
        for nth, bar in enumerate(bars):
            x = start + nth * bar_width
            missing = isinstance(bar.pps, Missing)
            tall = 0.0 if isinstance(bar.pps, Missing) else bar.pps / 1e6 * scale
            text = "—" if isinstance(bar.pps, Missing) else fmt.significant(bar.pps / 1e6, 3)
            mark = svg.element(
                "rect",
                {
                    "x": x + 1,
                    "y": base - tall,
                    "width": bar_width - 2,
                    "height": tall,
                    "class": bar.css,
                },
            )
            value = svg.label(
                x + bar_width / 2, base - tall - 5, text, "value middle" + " void" * missing
            )
            title = svg.element("title", {}, bar.told)
            parts.append(svg.element("g", {}, title, mark, value))
        middle = left + place * group_width + group_width / 2
        parts.append(svg.label(middle, base + 18, mix, "axis middle"))
    parts.append(svg.label(left + (width - left) / 2, height - 6, "Frame, B", "axis middle"))
    return _legend(groups) + svg.figure(width, height, name, *parts)


def _legend(groups: dict[str, list[Bar]]) -> Markup:
    seen = dict.fromkeys((b.css, b.series) for bars in groups.values() for b in bars)
    items = (
        svg.element("li", {}, svg.element("span", {"class": f"key {css}"}), series)
        for css, series in seen
    )
    return svg.element("ul", {"class": "legend"}, *items)
