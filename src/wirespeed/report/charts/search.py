"""A search as its trials: the load of each in the order tried, and the part that it lost."""

from collections.abc import Sequence
from math import log10

from markupsafe import Markup

from wirespeed.model.trial import Trial
from wirespeed.report import format as fmt
from wirespeed.report import svg
from wirespeed.report.page import Missing


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
