"""Trials made by hand: each test changes only what it is about."""

from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.trial import (
    Departure,
    DutReading,
    PortCounters,
    StreamCounts,
    TesterHealth,
    Trial,
)

TSC_HZ = 2_000_000_000


def ports(**counts: int) -> tuple[PortCounters, ...]:
    names = PortCounters.model_fields.keys() - {"port", "discards"}
    return (PortCounters(port=0, **(dict.fromkeys(names, 0) | counts)),)


def stream(offered: int, in_order: int, **counts: int) -> StreamCounts:
    names = StreamCounts.model_fields.keys()
    fields = dict.fromkeys(names, 0) | {"intended_frames": offered, "offered_frames": offered}
    return StreamCounts(**(fields | {"in_order_frames": in_order} | counts))


def build_trial(
    offered: int = 1_000_000,
    missing: int = 0,
    *,
    dut: DutReading | None = None,
    tester_ports: tuple[PortCounters, ...] = (),
    stream_counts: dict[str, int] | None = None,
    health: dict[str, object] | None = None,
    **changed: object,
) -> Trial:
    """One second, one stream of 64-byte frames; 2 GHz TSC."""
    fields: dict[str, object] = {
        "number": 1,
        "search": 1,
        "dut": "described",
        "mix": FrameMix.parse("64"),
        "flows": 8,
        "purpose": "search",
        "started_at": "2026-01-01T00:00:00+00:00",
        "intended_load_pps": float(offered) or 1.0,
        "intended_seconds": 1.0,
        "measured_seconds": 1.0,
        "streams": (stream(offered, offered - missing, **(stream_counts or {})),),
        "latency": None,
        "departure": Departure(
            burst_frames_max=32,
            interval_ns_intended=32_000.0,
            interval_ns_p50=32_000,
            interval_ns_p99=33_000,
            interval_ns_max=40_000,
        ),
        "tester": TesterHealth(
            **(
                {
                    "gap_ns_max": 20_000,
                    "gaps_over_limit": 0,
                    "gap_limit_ns": 10_000_000,
                    "stalled_ns": 0,
                    "tsc_hz": TSC_HZ,
                }
                | (health or {})
            )
        ),
        "silence_ns_max": 0,
        "silence_ns_sum": 0,
        "tester_ports": tester_ports,
        "dut_reading": dut,
        "valid": True,
    }
    return Trial.model_validate(fields | changed)
