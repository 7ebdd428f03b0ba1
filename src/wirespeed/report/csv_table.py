"""The results as CSV: one row per outcome, a figure that nobody has left empty."""

import csv
import io
from collections.abc import Callable
from statistics import mean

from wirespeed.model.trial import Trial
from wirespeed.report.format import plain
from wirespeed.report.page import Missing, Page, Result
from wirespeed.report.result import busy_cycles, core_hz, recovery_s, reset_s

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def render_csv(page: Page) -> str:
    """`results.csv`. Units are in the column names; a mix's label stands in `frame_bytes`."""
    out = io.StringIO()
    rows = [
        _row(result) | ({"run": run.label} if len(page.runs) > 1 else {})
        for run in page.runs
        for dut in run.duts
        for result in dut.results
    ]
    fields = list(COLUMNS) + (["run"] if len(page.runs) > 1 else [])
    writer = csv.DictWriter(out, fieldnames=fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


COLUMNS = (
    "dut",
    "frame_bytes",
    "throughput_mpps",
    "confirmed_seconds",
    "trials_are",
    "windows",
    "lost",
    "limited_by",
    "method",
    "line_rate_mpps",
    "pct_line_rate",
    "throughput_gbps_l1",
    "throughput_gbps_l2",
    "found_mpps",
    "upper_mpps",
    "tolerance",
    "goal_width",
    "pdr_mpps",
    "pdr_loss_ratio",
    "loss_floor",
    "latency_ns_min",
    "latency_ns_p50",
    "latency_ns_p90",
    "latency_ns_p99",
    "latency_ns_p999",
    "latency_ns_max",
    "busy_cycles_per_packet",
    "cycles_source",
    "core_ghz",
    "trials",
    "invalid_trials",
    "search_seconds",
    "search",
    "sent",
    "received",
    "unexplained",
    "evidence",
    "verdict",
    "notes",
    "confirmations",
    "confirmed_lowest_mpps",
    "confirmed_highest_mpps",
    "recoveries",
    "recovery_seconds_mean",
    "recovery_seconds_max",
    "resets",
    "reset_seconds_mean",
    "reset_seconds_max",
    "line_offered_mpps",
    "line_forwarded_mpps",
    "line_busy_cycles_per_packet",
    "line_core_ghz",
)


def _row(result: Result) -> dict[str, str]:
    o = result.outcome
    again = o.confirmations
    lat = None if isinstance(result.latency, Missing) else result.latency
    row = {
        "dut": _word(o.dut),
        "frame_bytes": o.mix.label,
        "throughput_mpps": _mega(o.throughput_pps),
        "confirmed_seconds": "" if o.confirmed_trial is None else f"{o.confirmed_seconds:g}",
        "trials_are": "continuous" if o.windows is None else "windowed",
        "windows": "" if o.windows is None else str(o.windows),
        "lost": str(o.lost_frames),
        "limited_by": o.limit.by,
        "method": o.method,
        "line_rate_mpps": ""
        if isinstance(result.line_rate_pps, Missing)
        else _mega(result.line_rate_pps),
        "pct_line_rate": plain(result.pct_line_rate, 4),
        "throughput_gbps_l1": _giga(result.throughput_bps_l1),
        "throughput_gbps_l2": _giga(result.throughput_bps_l2),
        "found_mpps": _mega(o.found_load_pps),
        "upper_mpps": _mega(o.upper_load_pps),
        "tolerance": plain(result.tolerance, 6),
        "goal_width": f"{o.goal_width:g}",
        "pdr_mpps": _mega(o.pdr_load_pps),
        "pdr_loss_ratio": _exact(o.pdr_loss_ratio),
        "loss_floor": _exact(o.loss_floor),
        "busy_cycles_per_packet": ""
        if o.busy_cycles_per_packet is None
        else f"{o.busy_cycles_per_packet:.2f}",
        "cycles_source": o.cycles_source or "",
        "core_ghz": "" if o.core_hz is None else f"{o.core_hz / 1e9:.4f}",
        "trials": str(o.trials),
        "invalid_trials": str(o.invalid_trials),
        "search": str(o.search),
        "search_seconds": f"{o.seconds:.3f}",
        "sent": str(o.ledger.offered_frames),
        "received": str(o.ledger.received_frames),
        "unexplained": str(o.ledger.unexplained_frames),
        "evidence": _word("; ".join(o.limit.evidence)),
        "verdict": _word(o.verdict),
        "notes": _word("; ".join(o.notes)),
        "confirmations": "" if o.confirmed_trial is None else str(again.trials if again else 1),
        "confirmed_lowest_mpps": _mega(again.lowest_pps if again else o.throughput_pps),
        "confirmed_highest_mpps": _mega(again.highest_pps if again else o.throughput_pps),
    }
    row |= _times(result, "recovery", "recoveries", recovery_s)
    row |= _times(result, "reset", "resets", reset_s)
    row |= _at_line_rate(result)
    for name in (c for c in COLUMNS if c.startswith("latency_ns_")):
        row[name] = "" if lat is None else str(getattr(lat, name))
    return row


def _times(
    result: Result, purpose: str, plural: str, time_s: Callable[[Trial], float | None]
) -> dict[str, str]:
    """How many trials of a purpose came to a time, with the mean and the longest."""
    made = [t for t in result.further if t.purpose == purpose and t.valid]
    times = [s for t in made if (s := time_s(t)) is not None]
    return {
        plural: f"{len(times)} of {len(made)}" if made else "",
        f"{purpose}_seconds_mean": f"{mean(times):.6f}" if times else "",
        f"{purpose}_seconds_max": f"{max(times):.6f}" if times else "",
    }


def _at_line_rate(result: Result) -> dict[str, str]:
    """Give the average of the last trial of a full line, which is no throughput."""
    made = [t for t in result.further if t.purpose == "line" and t.valid]
    if not made:
        return {}
    cycles, clock = busy_cycles(made[-1]), core_hz(made[-1])
    return {
        "line_offered_mpps": _mega(made[-1].offered_load_pps),
        "line_forwarded_mpps": _mega(made[-1].forwarding_rate_pps),
        "line_busy_cycles_per_packet": "" if cycles is None else f"{cycles:.2f}",
        "line_core_ghz": "" if clock is None else f"{clock / 1e9:.4f}",
    }


def _mega(pps: float | None) -> str:
    return "" if pps is None else f"{pps / 1e6:.6f}"


def _giga(bps: float | Missing) -> str:
    return "" if isinstance(bps, Missing) else f"{bps / 1e9:.6f}"


def _exact(value: float | None) -> str:
    return "" if value is None else f"{value!r}"


def _word(text: str) -> str:
    """Text that a spreadsheet would take for a formula gets a quote that keeps it text."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
