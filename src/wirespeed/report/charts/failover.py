"""One line of time for each port that was lost: what carried the flow, and when nothing did."""

from collections.abc import Sequence

from markupsafe import Markup

from wirespeed.model.network_trial import FailoverTrial
from wirespeed.model.shown import shown
from wirespeed.report import format as fmt
from wirespeed.report import svg

ROW, BAR, LEFT, WIDTH = 46.0, 16.0, 8.0, 760.0
TOP, BOTTOM = 26.0, 26.0
LEAST = 2.0
"""Points: an outage that is shorter than a hair is still drawn."""
COLOURS = ("s0", "s1", "s2", "s3", "s4")


def failover(trials: Sequence[FailoverTrial], away_s: float) -> Markup:
    """Draw all trials on one axis of seconds; each port was away for `away_s`, then back.

    Of one that measured nothing there is nothing to draw: the table says why.
    """
    trials = [trial for trial in trials if trial.is_measured]
    if not trials:
        return Markup("")
    total = max((trial.offered_packets or 0) / trial.load_pps for trial in trials)
    total = max(total, 2 * away_s)
    height = TOP + ROW * len(trials) + BOTTOM
    scale = (WIDTH - 2 * LEFT) / total
    members = list(dict.fromkeys(m for t in trials for m in _carriers(t) if m))
    css = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(members)}
    base = height - BOTTOM
    parts = []
    for tick in svg.linear_ticks(0.0, total, 8):
        if tick <= total:
            x = LEFT + tick * scale
            parts.append(svg.line(x, TOP - 6, x, base, "rule"))
            parts.append(svg.label(x, base + 16, f"{svg.tick_text(tick)} s", "axis middle"))
    for place, trial in enumerate(trials):
        parts.append(_row(trial, TOP + ROW * place, total, away_s, scale, css))
    items = [
        svg.element("li", {}, svg.element("span", {"class": f"key {css[name]}"}), name)
        for name in members
    ]
    items.append(
        svg.element("li", {}, svg.element("span", {"class": "key outage"}), "nothing got through")
    )
    legend = svg.element("ul", {"class": "legend"}, *items)
    return legend + svg.figure(WIDTH, height, "Fail-over: what carried the flow", *parts)


def _carriers(trial: FailoverTrial) -> tuple[str, str, str]:
    carried = trial.carried_before, trial.carried_during, trial.carried_after
    before, during, after = (shown(member or "", 40) for member in carried)
    return before, during, after


def _row(
    trial: FailoverTrial,
    y: float,
    total: float,
    away_s: float,
    scale: float,
    css: dict[str, str],
) -> Markup:
    lost_at = max(0.0, (trial.offered_packets or 0) / trial.load_pps - 2 * away_s)
    back_at = lost_at + away_s
    before, during, after = _carriers(trial)
    spans = ((0.0, lost_at, before), (lost_at, back_at, during), (back_at, total, after))
    away_ms, back_ms = trial.outage_ms or 0.0, trial.return_outage_ms or 0.0
    gaps = ((lost_at, away_ms), (back_at, back_ms))
    told = (
        f"{trial.host} {trial.port}: {fmt.milliseconds(away_ms, trial.load_pps)} ms without a "
        f"packet when it was lost, {fmt.milliseconds(back_ms, trial.load_pps)} ms when it came back"
    )
    parts = [svg.element("title", {}, told)]
    for start, end, member in spans:
        parts.append(_box(start, end, y + 12, scale, css.get(member, "line-rate")))
    for start, ms in gaps:
        width = max(ms / 1000, LEAST / scale)
        parts.append(_box(start, min(start + width, total), y + 12, scale, "outage"))
    verdict = (
        f"{trial.host} {trial.port}: {trial.verdict}, {fmt.count(trial.lost_packets or 0)} lost"
    )
    parts.append(svg.label(LEFT, y + 8, verdict, "start"))
    for start, ms, word in ((*gaps[0], "lost"), (*gaps[1], "back")):
        text = f"{word}: {fmt.milliseconds(ms, trial.load_pps)} ms out"
        parts.append(svg.label(LEFT + start * scale, y + 12 + BAR + 11, text, "value start"))
    return svg.element("g", {}, *parts)


def _box(start: float, end: float, y: float, scale: float, css: str) -> Markup:
    return svg.element(
        "rect",
        {
            "x": LEFT + start * scale,
            "y": y,
            "width": max(0.0, (end - start) * scale),
            "height": BAR,
            "class": css,
        },
    )
