"""The figures of a page, each an SVG that prints, scales and shows its numbers.

Every mark carries a `<title>`, which a browser shows on hovering, and a visible label or a table
beside it, so that paper tells as much. Colours come from the page's style sheet (`s0` to `s5`).
"""

from collections.abc import Callable, Sequence
from math import log10
from typing import NamedTuple

from markupsafe import Markup

from wirespeed.model.trial import Latency, Trial
from wirespeed.report import format as fmt
from wirespeed.report import svg
from wirespeed.report.build import spread
from wirespeed.report.page import Comparison, DutSection, Missing, Result, Run, Spread
from wirespeed.report.tables import latency_ns

SERIES_COLOURS = 6


class Bar(NamedTuple):
    """One bar of a group: its height in pps, or the reason why it has none."""

    series: str
    css: str
    pps: float | Missing
    told: str
    """What a reader sees on hovering."""


def throughput(run: Run) -> Markup:
    """Throughput per frame size, one bar per DUT, beside line rate where there is one."""
    methods = {r.outcome.method for d in run.duts for r in d.results}
    groups: dict[str, list[Bar]] = {}
    lines: dict[str, set[float]] = {}
    series: dict[tuple[str, str], list[Result]] = {}
    for dut in run.duts:
        for r in dut.results:
            series.setdefault((dut.name, r.outcome.method), []).append(r)
    for place, ((dut_name, method), results) in enumerate(series.items()):
        name = f"{dut_name}, {method}" if len(methods) > 1 else dut_name
        by_mix: dict[str, list[Result]] = {}
        for r in results:
            by_mix.setdefault(r.outcome.mix.label, []).append(r)
        for mix, repeated in by_mix.items():
            figure = spread([r.outcome for r in repeated])
            limit = f"limited by {repeated[-1].outcome.limit.by}"
            groups.setdefault(mix, []).append(_bar(name, place, mix, figure, limit))
            for r in repeated:
                if not isinstance(r.line_rate_pps, Missing):
                    lines.setdefault(mix, set()).add(r.line_rate_pps)
    for mix, rates in lines.items():
        for pps in sorted(rates):
            told = f"line rate, {fmt.frame(mix)}: {fmt.mpps(pps)} Mpps"
            groups[mix].append(Bar("line rate", "line-rate", pps, told))
    return _bars("Throughput per frame size", _ordered(groups, run))


def compared(comparison: Comparison, dut: str) -> Markup:
    """One DUT's throughput per frame size, in run A and in run B."""
    groups: dict[str, list[Bar]] = {}
    for row in comparison.rows:
        if row.dut == dut:
            label = row.frame_label
            for place, (name, figure) in enumerate((("run A", row.a), ("run B", row.b))):
                groups.setdefault(label, []).append(_bar(name, place, label, figure, row.method))
    return _bars(f"Throughput of {dut} in both runs", groups)


def _bar(name: str, place: int, mix: str, figure: Spread | Missing, told: str) -> Bar:
    css = f"s{place % SERIES_COLOURS}"
    head = f"{name}, {fmt.frame(mix)}"
    if isinstance(figure, Missing):
        return Bar(name, css, figure, f"{head}: {figure.reason}")
    return Bar(name, css, figure.median_pps, f"{head}: {fmt.mpps(figure.median_pps)} Mpps; {told}")


def _ordered(groups: dict[str, list[Bar]], run: Run) -> dict[str, list[Bar]]:
    """Frame sizes in ascending order, though the DUTs may not have the same ones."""
    sizes = {
        r.outcome.mix.label: (len(r.outcome.mix.shares) > 1, r.outcome.mix.mean_frame_bytes)
        for d in run.duts
        for r in d.results
    }
    return dict(sorted(groups.items(), key=lambda item: sizes[item[0]]))


def _bars(name: str, groups: dict[str, list[Bar]]) -> Markup:
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


PERCENTILES = (
    ("p50", "latency_ns_p50"),
    ("p90", "latency_ns_p90"),
    ("p99", "latency_ns_p99"),
    ("p99.9", "latency_ns_p999"),
    ("most", "latency_ns_max"),
)


def latency(dut: DutSection) -> Markup:
    """Latency percentiles at throughput per frame size, on a logarithmic axis."""
    known = [(r, r.latency) for r in dut.results if not isinstance(r.latency, Missing)]
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
    label_y = height_of(points[0][1]) + 3 + 10
    for name, us in points:
        y = height_of(us)
        label_y = min(y + 3, label_y - 10)
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


def search(
    result_name: str, trials: Sequence[Trial], throughput_pps: float | Missing | None
) -> Markup:
    """Draw each trial's load in the order tried, and under it the part of its frames it lost."""
    if not trials:
        return Markup("")
    left, top, split, height = 46.0, 20.0, 112.0, 206.0
    step = max(11.0, 250.0 / len(trials))
    width = left + step * len(trials) + 8
    loads = [t.intended_load_pps / 1e6 for t in trials]
    ticks = svg.linear_ticks(min(loads), max(loads), 3)
    scale = (split - top) / (ticks[-1] - ticks[0])
    floor_exponent = -7.0
    loss_top, loss_base = split + 26, height - 22
    loss_scale = (loss_base - loss_top) / -floor_exponent

    parts = [svg.label(2, 10, "load, Mpps", "axis start")]
    for tick in ticks:
        y = split - (tick - ticks[0]) * scale
        parts.append(svg.line(left, y, width - 8, y, "rule"))
        parts.append(svg.label(left - 5, y + 3, svg.tick_text(tick), "axis end"))
    if isinstance(throughput_pps, float):
        y = split - (throughput_pps / 1e6 - ticks[0]) * scale
        parts.append(svg.line(left, y, width - 8, y, "proven"))
    parts.append(svg.label(2, split + 18, "loss ratio", "axis start"))
    for exponent, text in ((0, "1"), (-3, "10⁻³"), (-6, "10⁻⁶")):
        y = loss_top - exponent * loss_scale
        parts.append(svg.line(left, y, width - 8, y, "rule"))
        parts.append(svg.label(left - 5, y + 3, text, "axis end"))
    parts.append(svg.line(left, loss_base, width - 8, loss_base, "base"))
    every = max(1, round(28 / step))
    for place, (t, load) in enumerate(zip(trials, loads, strict=True)):
        x = left + step * (place + 0.5)
        y = split - (load - ticks[0]) * scale
        marks = [svg.element("title", {}, _told(t)), _mark(x, y, t)]
        if t.valid and t.loss_ratio > 0:
            loss_y = loss_top - max(floor_exponent, log10(t.loss_ratio)) * loss_scale
            marks.append(
                svg.element(
                    "rect",
                    {
                        "x": x - min(step, 12) / 2 + 1,
                        "y": min(loss_y, loss_base - 2),
                        "width": min(step, 12) - 2,
                        "height": max(loss_base - loss_y, 2),
                        "class": "lossy",
                    },
                )
            )
        parts.append(svg.element("g", {}, *marks))
        if place % every == 0:
            parts.append(svg.label(x, height - 8, str(t.number), "axis middle"))
    return svg.figure(width, height, f"The search: {result_name}", *parts)


def _told(t: Trial) -> str:
    verdict = (
        f"invalid: {'; '.join(t.invalid_reasons)}"
        if not t.valid
        else f"{fmt.count(t.missing_frames)} missing, loss ratio {fmt.ratio(t.loss_ratio)}"
        if t.offered_frames
        else "nothing sent"
    )
    return (
        f"trial {t.number} ({t.purpose}): {fmt.mpps(t.intended_load_pps)} Mpps "
        f"for {fmt.seconds(t.measured_seconds)}; {verdict}"
    )


def _mark(x: float, y: float, t: Trial) -> Markup:
    """Shapes tell the verdicts apart without colour: dot, ring, cross; a square confirms."""
    if not t.valid:
        cross = f"M{x - 3.5:.1f} {y - 3.5:.1f}l7 7m0 -7l-7 7"
        return svg.element("path", {"d": cross, "class": "invalid"})
    css = "passed" if t.missing_frames == 0 and t.offered_frames else "failed"
    if t.purpose == "confirm":
        return svg.element("rect", {"x": x - 4, "y": y - 4, "width": 8, "height": 8, "class": css})
    return svg.element("circle", {"cx": x, "cy": y, "r": 3.6, "class": css})
