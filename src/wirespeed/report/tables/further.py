"""Latency and loss by load, bursts back to back, and a soak. Pure."""

from collections.abc import Iterator
from statistics import mean, stdev

from wirespeed.model.trial import Bursts, Latency, Trial
from wirespeed.report import format as fmt
from wirespeed.report.grid import Cell, Grid, columns, text
from wirespeed.report.page import DutSection, Result
from wirespeed.report.result import busy_cycles, core_hz, recovery_s, reset_s
from wirespeed.report.tables.rows import named

LEAST_OVERLOAD_S = 60.0
LADDER = (
    ("p50", "latency_ns_p50"),
    ("p90", "latency_ns_p90"),
    ("p99", "latency_ns_p99"),
    ("p99.9", "latency_ns_p999"),
    ("p99.99", "latency_ns_p9999"),
    ("Most", "latency_ns_max"),
)


def further_grids(dut: DutSection) -> Iterator[Grid]:
    """Tabulate what was measured after the searches, where something was."""
    for name, result in named(dut):
        if rungs := _of(result, "ladder"):
            yield _ladder(name, result, rungs)
        if recoveries := _of(result, "recovery"):
            yield _recoveries(name, recoveries)
        if resets := _of(result, "reset"):
            yield _resets(name, resets)
        if soaked := _of(result, "soak"):
            yield _soak(name, soaked)
    if rows := [_line(n, r, t) for n, r in named(dut) for t in _of(r, "line")]:
        yield Grid(
            title="At line rate",
            caption="A trial of a full line after each search (where no line rate is known, at the "
            "highest load, or at all that the tester sends): what came back of it on average, "
            "whatever was lost. The throughput is another: zero loss only. Cycles are those "
            "that the forwarder counts over bursts with packets.",
            columns=columns(
                "Search", "Offered, Mpps", "Forwarded on average, Mpps", "Lost", "Loss ratio",
                "Busy cycles per packet", "Core, GHz", "Zero loss, Mpps", words=("Search",),
            ),
            rows=tuple(rows),
        )  # fmt: skip
    if rows := [_burst(name, r.bursts) for name, r in named(dut) if r.bursts is not None]:
        yield Grid(
            title="Back to back",
            caption="The longest burst at the load beside it of which no frame was lost: mean, "
            "spread and bounds over its searches. The buffer is the mean over the load, less the "
            "part that was forwarded meanwhile (RFC 9004 section 6). If a burst of the longest "
            "time lost nothing, the mean is a lower bound. A burst that stayed void ends the "
            "searches.",
            columns=columns(
                "Search", "Load, Mpps", "Searches", "Mean, frames", "Deviation", "Least", "Most",
                "Buffer, µs", words=("Search",),
            ),
            rows=tuple(rows),
        )  # fmt: skip


def _line(name: str, result: Result, trial: Trial) -> tuple[Cell, ...]:
    cycles, clock, proven = busy_cycles(trial), core_hz(trial), result.outcome.throughput_pps
    average = fmt.mpps(trial.forwarding_rate_pps) if trial.valid else "—"
    return text(
        name,
        fmt.mpps(trial.offered_load_pps),
        average,
        *_loss(trial),
        "—" if cycles is None or not trial.valid else f"{cycles:.0f}",
        "—" if clock is None or not trial.valid else fmt.ghz(clock),
        "not proven" if proven is None else fmt.mpps(proven),
    )


def _recoveries(name: str, trials: list[Trial]) -> Grid:
    rows = []
    for t in trials:
        overload = "—" if t.recovery is None else f"{t.recovery.overload_seconds:.6g}"
        time_s = recovery_s(t)
        shown = "—" if not t.valid else "not over" if time_s is None else f"{time_s:.6f}"
        load = fmt.mpps(t.intended_load_pps)
        rows.append(text(t.started_at, load, overload, shown, *_loss(t)))
    times = [s for t in trials if (s := recovery_s(t)) is not None]
    short = [t for t in trials if t.recovery and t.recovery.overload_seconds < LEAST_OVERLOAD_S]
    return Grid(
        title=f"{name}: system recovery",
        caption=f"{_over(times)}Each trial offered 110 % of the throughput (no more than the "
        "highest load), then half of that. Recovery time is that from the change to the departure "
        "of the last frame that was lost (RFC 2544 section 26.5). Not over: frames were lost in "
        "the last tenth of the trial. A loss that the machine caused after the change counts."
        + (f" RFC 2544 requires an overload of {LEAST_OVERLOAD_S:g} s or more." if short else ""),
        columns=columns(
            "Began", "Overload, Mpps", "For, s", "Recovery time, s", "Lost", "Loss ratio",
            words=("Began",),
        ),
        rows=tuple(rows),
    )  # fmt: skip


def _over(times: list[float]) -> str:
    if not times:
        return ""
    return f"Mean {mean(times):.3f} s, {min(times):.3f} to {max(times):.3f} s, n {len(times)}. "


def _resets(name: str, trials: list[Trial]) -> Grid:
    rows = []
    for t in trials:
        if t.valid:
            back = "not back" if reset_s(t) is None else f"{reset_s(t):.3f}"
            lost = f"{t.missing_frames / t.offered_load_pps:.3f}"
            rows.append(text(t.started_at, fmt.mpps(t.offered_load_pps), back, lost, *_loss(t)))
        else:
            rows.append(text(t.started_at, fmt.mpps(t.offered_load_pps), "—", "—", *_loss(t)))
    times = [s for t in trials if (s := reset_s(t)) is not None]
    return Grid(
        title=f"{name}: reset",
        caption=f"{_over(times)}In each trial the forwarder was ended and started again while "
        "frames were sent at the throughput: a reset of the program (RFC 6201), not of the host or "
        "its power. Reset time is that between the last frame before and the first one after "
        "(RFC 2544 section 26.6); by loss, the missing frames over the load.",
        columns=columns(
            "Began", "Load, Mpps", "Reset time, s", "By loss, s", "Lost", "Loss ratio",
            words=("Began",),
        ),
        rows=tuple(rows),
    )  # fmt: skip


def _of(result: Result, purpose: str) -> list[Trial]:
    return [trial for trial in result.further if trial.purpose == purpose]


def _ladder(name: str, result: Result, trials: list[Trial]) -> Grid:
    proven = result.outcome.throughput_pps
    rows = []
    for t in trials:
        share = "—" if proven is None else fmt.pct(100 * t.intended_load_pps / proven)
        rows.append(
            (
                *text(fmt.mpps(t.intended_load_pps), share, *_loss(t)),
                *_percentiles(t),
            )
        )
    return Grid(
        title=f"{name}: latency and loss by load",
        caption="A trial at each tenth of the throughput, and above it up to the highest load. "
        "Latency in µs, over the frames that came back.",
        columns=columns(
            "Load, Mpps", "% of throughput", "Lost", "Loss ratio", *(head for head, _ in LADDER)
        ),
        rows=tuple(rows),
    )


def _soak(name: str, trials: list[Trial]) -> Grid:
    rows = [
        (*text(t.started_at, fmt.mpps(t.offered_load_pps), *_loss(t)), *_percentiles(t))
        for t in trials
    ]
    return Grid(
        title=f"{name}: soak",
        caption=f"{len(trials)} trials at the throughput, one after the other: "
        f"{fmt.count(sum(t.missing_frames for t in trials if t.valid))} of "
        f"{fmt.count(sum(t.offered_frames for t in trials if t.valid))} frames lost in those "
        "that count.",
        columns=columns(
            "Began", "Load, Mpps", "Lost", "Loss ratio", *(h for h, _ in LADDER), words=("Began",)
        ),
        rows=tuple(rows),
    )


def _loss(trial: Trial) -> tuple[str, str]:
    if not trial.valid:
        return "void", trial.invalid_reasons[0].partition(":")[0]
    return fmt.count(trial.missing_frames), fmt.ratio(trial.loss_ratio)


def _percentiles(trial: Trial) -> tuple[Cell, ...]:
    if trial.latency is None or not trial.valid:
        return (Cell(text="—", tone="missing"),) * len(LADDER)
    return text(*(_microseconds(trial.latency, field) for _, field in LADDER))


def _microseconds(latency: Latency, field: str) -> str:
    ns = getattr(latency, field)
    return "—" if ns is None else fmt.microseconds(int(ns))


def _burst(name: str, bursts: Bursts) -> tuple[Cell, ...]:
    frames = bursts.frames
    made = f"{len(frames)} of {bursts.searches}"
    if not frames:
        return text(name, fmt.mpps(bursts.load_pps), f"{made}: void", *("—",) * 5)
    bound = bursts.longest_s * bursts.load_pps * 0.99
    is_bounded = max(frames) >= bound
    spread = "—" if len(frames) == 1 or is_bounded else fmt.count(round(stdev(frames)))
    buffer_s = bursts.buffer_s

    def shown(value: float, *, is_least: bool) -> str:
        return ("at least " if is_least else "") + fmt.count(round(value))

    return text(
        name,
        fmt.mpps(bursts.load_pps),
        made,
        shown(mean(frames), is_least=is_bounded),
        spread,
        shown(min(frames), is_least=min(frames) >= bound),
        shown(max(frames), is_least=is_bounded),
        "—" if buffer_s is None or is_bounded else fmt.microseconds(buffer_s * 1e9),
    )
