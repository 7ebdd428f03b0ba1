"""Throughput per frame size: a run's DUTs beside each other, or a DUT in two runs."""

from markupsafe import Markup

from wirespeed.report import format as fmt
from wirespeed.report.charts.bars import Bar, bars
from wirespeed.report.headline import median_search, spread
from wirespeed.report.page import Comparison, Missing, Result, Run, Spread

SERIES_COLOURS = 6


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
            outcomes = [r.outcome for r in repeated]
            figure, limit = spread(outcomes), f"limited by {median_search(outcomes).limit.by}"
            groups.setdefault(mix, []).append(_bar(name, place, mix, figure, limit))
            for r in repeated:
                if not isinstance(r.line_rate_pps, Missing):
                    lines.setdefault(mix, set()).add(r.line_rate_pps)
    for mix, rates in lines.items():
        for pps in sorted(rates):
            told = f"line rate, {fmt.frame(mix)}: {fmt.mpps(pps)} Mpps"
            groups[mix].append(Bar("line rate", "line-rate", pps, told))
    return bars("Throughput per frame size", _ordered(groups, run))


def compared(comparison: Comparison, dut: str) -> Markup:
    """One DUT's throughput per frame size, in run A and in run B."""
    groups: dict[str, list[Bar]] = {}
    for row in comparison.rows:
        if row.dut == dut:
            label = row.frame_label
            for place, (name, figure) in enumerate((("run A", row.a), ("run B", row.b))):
                groups.setdefault(label, []).append(_bar(name, place, label, figure, row.method))
    return bars(f"Throughput of {dut} in both runs", groups)


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
