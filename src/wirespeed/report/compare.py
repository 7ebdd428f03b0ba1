"""Two runs laid side by side: a ratio per DUT and frame size, and how far to trust it."""

from collections.abc import Iterable

from wirespeed.model.trial import Record, Setup
from wirespeed.report import format as fmt
from wirespeed.report.build import build_run
from wirespeed.report.headline import headlines, spread
from wirespeed.report.page import (
    ComparedRow,
    Comparison,
    Headline,
    Missing,
    Page,
    Result,
    Run,
    Spread,
)

Key = tuple[str, str, str]


def build_comparison(records_a: Iterable[Record], records_b: Iterable[Record]) -> Page:
    """Make the page of two runs, A first. Raises InputError when one of them holds no setup."""
    a, b = build_run(tuple(records_a), "A"), build_run(tuple(records_b), "B")
    of_a, of_b = _by_key(a), _by_key(b)
    rows = tuple(
        _row(key, of_a.get(key, ()), of_b.get(key, ())) for key in dict.fromkeys([*of_a, *of_b])
    )
    return Page(
        title="Zero-loss throughput, two runs side by side",
        headlines=_beside(headlines(a), headlines(b)),
        runs=(a, b),
        comparison=Comparison(
            rows=rows, differences=(*_cores(a, b), *_differences(a.setup, b.setup))
        ),
    )


def _beside(a: tuple[Headline, ...], b: tuple[Headline, ...]) -> tuple[Headline, ...]:
    """Put the answers of both runs that are for the same DUT next to each other."""
    order = {h.dut: place for place, h in reversed(list(enumerate((*a, *b))))}
    return tuple(sorted((*a, *b), key=lambda h: order[h.dut]))


def _cores(a: Run, b: Run) -> tuple[tuple[str, str, str], ...]:
    """Name the results of either run whose tester and DUT lay far apart, if they differ."""
    far = [
        ", ".join(
            f"{dut.name} {fmt.frame(result.outcome.mix.label)}"
            for dut in run.duts
            for result in dut.results
            if result.outcome.cores_far_apart
        )
        for run in (a, b)
    ]
    if far[0] == far[1]:
        return ()
    label = "tester and DUT on cores far apart: not to be compared with others"
    return ((label, far[0] or "in no result", far[1] or "in no result"),)


def _by_key(run: Run) -> dict[Key, tuple[Result, ...]]:
    found: dict[Key, tuple[Result, ...]] = {}
    for dut in run.duts:
        for result in dut.results:
            key = (dut.name, result.outcome.mix.label, result.outcome.method)
            found[key] = (*found.get(key, ()), result)
    return found


def _row(key: Key, a: tuple[Result, ...], b: tuple[Result, ...]) -> ComparedRow:
    spread_a, spread_b = _spread(a, "A"), _spread(b, "B")
    ratio: float | Missing = Missing(reason="one of the two has no proven throughput")
    resolution: float | Missing = ratio
    if isinstance(spread_a, Spread) and isinstance(spread_b, Spread):
        ratio = spread_b.median_pps / spread_a.median_pps
        resolution = _uncertainty(spread_a, a, "A")
        other = _uncertainty(spread_b, b, "B")
        if not isinstance(resolution, Missing):
            resolution = other if isinstance(other, Missing) else resolution + other
    return ComparedRow(
        dut=key[0],
        frame_label=key[1],
        method=key[2],
        a=spread_a,
        b=spread_b,
        ratio=ratio,
        resolution=resolution,
    )


def _spread(results: tuple[Result, ...], run: str) -> Spread | Missing:
    if not results:
        return Missing(reason=f"run {run} has no such search")
    return spread([r.outcome for r in results])


def _uncertainty(figure: Spread, results: tuple[Result, ...], run: str) -> float | Missing:
    """Relative: the widest bracket that a search ended with, or the spread if that is more."""
    known = [r.tolerance for r in results if not isinstance(r.tolerance, Missing)]
    varied = (figure.highest_pps - figure.lowest_pps) / figure.median_pps
    if not known:
        return Missing(reason=f"no load failed in run {run}, so its figure has no upper bound")
    return max([*known, varied])


def _differences(a: Setup, b: Setup) -> tuple[tuple[str, str, str], ...]:
    """Every label whose value is not the same in both setups."""
    flat_a, flat_b = _flat(a), _flat(b)
    return tuple(
        (label, flat_a.get(label, "—"), flat_b.get(label, "—"))
        for label in dict.fromkeys([*flat_a, *flat_b])
        if flat_a.get(label) != flat_b.get(label)
    )


def _flat(setup: Setup) -> dict[str, str]:
    flat = {"started": setup.started_at, "wirespeed": setup.wirespeed}
    groups = {"machine": setup.machine, "tester": setup.tester, "settings": setup.settings}
    groups |= {f"DUT {name}": facts for name, facts in setup.duts.items()}
    for group, values in groups.items():
        flat |= {f"{group}: {label}": value for label, value in values.items()}
    flat["line"] = f"{setup.link_bps / 1e9:g} Gb/s" if setup.link_bps is not None else "no line"
    flat["trial"] = f"{setup.trial_seconds:g} s"
    flat["confirming trial"] = f"{setup.confirm_seconds:g} s"
    return flat
