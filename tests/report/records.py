"""Records of made-up runs: a DUT with a cliff, searched by halving, as `measure` leaves them."""

from collections.abc import Iterable
from itertools import count

from wirespeed.model.frame_mix import FrameMix, FrameShare
from wirespeed.model.trial import (
    Departure,
    DutReading,
    End,
    Fate,
    Latency,
    Ledger,
    Limit,
    Outcome,
    Record,
    Setup,
    StreamCounts,
    TesterHealth,
    Trial,
)

FRAME_BYTES = (64, 128, 256, 512, 1024, 1280, 1518)
TSC_HZ = 2_100_000_000
STARTED = "2024-11-21T08:00:00Z"


def mix(*frame_bytes: int) -> FrameMix:
    """One frame size, or a mix of several with equal weights."""
    return FrameMix(shares=tuple(FrameShare(frame_bytes=b) for b in frame_bytes))


def setup(
    duts: Iterable[str] = ("testpmd macswap", "l3fwd lpm"),
    link_bps: int | None = None,
    trial_seconds: float = 0.5,
    confirm_seconds: float = 2,
    wire: str = "virtio-user to vhost-user",
    planned: int = 1,
) -> Setup:
    return Setup(
        wirespeed="0.1.0",
        started_at=STARTED,
        machine={
            "machine": "KVM guest",
            "CPU": "AMD EPYC 7B13, 2 cores, 2.10 GHz TSC",
            "kernel": "Linux 6.1.0-21-amd64",
            "hugepages": "none",
            "DPDK": "22.11.5",
        },
        duts={
            name: {
                "version": "DPDK 22.11.5",
                "command line": f"dpdk-testpmd -l 1 --no-huge -m 256 --vdev net_vhost0 -- # {name}",
                "devices": "net_vhost0, net_vhost1",
                "queues": "1 rx, 1 tx per port, 1024 descriptors",
                "lcores": "1",
            }
            for name in duts
        },
        tester={"version": "wirespeed-tester 0.1.0", "lcores": "0", "ports": "virtio_user0, 1"},
        settings={"wire": wire, "flows": "8192", "method": "rfc2544"},
        link_bps=link_bps,
        full_method_seconds=6_720,
        trial_seconds=trial_seconds,
        confirm_seconds=confirm_seconds,
        planned=planned,
    )


def end(reason: str = "") -> End:
    return End(finished_at="2024-11-21T08:04:00Z", completed=not reason, reason=reason)


def stream(
    offered: int, received: int, tx_port: int = 0, rx_port: int = 1, **counts: int
) -> StreamCounts:
    zeros = dict.fromkeys(
        (
            "refused_frames",
            "unsent_late_frames",
            "unsent_no_mbuf_frames",
            "reordered_frames",
            "reorder_extent_max",
            "duplicated_frames",
            "undecided_frames",
            "corrupted_frames",
            "misdelivered_frames",
            "earlier_trial_frames",
            "foreign_frames",
        ),
        0,
    )
    return StreamCounts(
        tx_port=tx_port,
        rx_port=rx_port,
        intended_frames=offered,
        offered_frames=offered,
        in_order_frames=received,
        **(zeros | counts),
    )


def latency(frames: int = 1_000_000, p50: int = 21_600) -> Latency:
    return Latency(
        frames=frames,
        latency_ns_min=p50 // 3,
        latency_ns_p50=p50,
        latency_ns_p90=p50 * 13 // 10,
        latency_ns_p99=p50 * 2,
        latency_ns_p999=p50 * 7,
        latency_ns_max=p50 * 31,
    )


def trial(
    number: int,
    dut: str = "testpmd macswap",
    frames: FrameMix | None = None,
    load_pps: float = 1_000_000,
    seconds: float = 0.5,
    missing: int = 0,
    purpose: str = "search",
    invalid: tuple[str, ...] = (),
    streams: tuple[StreamCounts, ...] | None = None,
    delay: Latency | None = None,
    search: int = 1,
) -> Trial:
    offered = round(load_pps * seconds)
    return Trial.model_validate(
        {
            "number": number,
            "search": search,
            "dut": dut,
            "mix": frames or mix(64),
            "flows": 8192,
            "purpose": purpose,
            "started_at": STARTED,
            "intended_load_pps": load_pps,
            "intended_seconds": seconds,
            "measured_seconds": seconds,
            "streams": streams or (stream(offered, offered - missing),),
            "latency": delay or latency(offered),
            "departure": Departure(
                burst_frames_max=32,
                interval_ns_intended=2_253.5,
                interval_ns_p50=2_250,
                interval_ns_p99=3_900,
                interval_ns_max=41_000,
            ),
            "tester": TesterHealth(
                gap_ns_max=3_000_000 if invalid else 18_000,
                gaps_over_limit=int(bool(invalid)),
                gap_limit_ns=1_000_000,
                stalled_ns=3_000_000 if invalid else 0,
                tsc_hz=TSC_HZ,
            ),
            "silence_ns_max": 60_000,
            "silence_ns_sum": 0,
            "dut_reading": DutReading(busy_cycles_per_packet=148.0),
            "valid": not invalid,
            "invalid_reasons": invalid,
        }
    )


def outcome(
    dut: str = "testpmd macswap",
    frames: FrameMix | None = None,
    throughput_pps: float | None = 14_200_000,
    upper_load_pps: float | None = 14_271_000,
    **changed: object,
) -> Outcome:
    """A proven result, or one that lost a frame at every load when `throughput_pps` is None."""
    proven = throughput_pps is not None
    fields: dict[str, object] = {
        "search": 1,
        "dut": dut,
        "mix": frames or mix(64),
        "method": "rfc2544",
        "goal_width": 0.005,
        "found_load_pps": throughput_pps,
        "upper_load_pps": upper_load_pps,
        "throughput_pps": throughput_pps,
        "confirmed_seconds": 2 if proven else 0,
        "confirmed_trial": 9 if proven else None,
        "lost_frames": 0 if proven else 17,
        "trials": 9,
        "invalid_trials": 0,
        "seconds": 8.5,
        "verdict": "width met",
        "limit": Limit(
            by="DUT core busy",
            evidence=("cpu_run_ns 99.8 % of the trial", "imissed 2,100 at port 0"),
        ),
        "ledger": Ledger(
            offered_frames=7_135_500,
            received_frames=7_133_000,
            lost=(
                Fate(place="DUT input queue", frames=2_100, counter="refused_frames, tester"),
                Fate(place="DUT transmit", frames=395, counter="tx_dropped, testpmd port 1"),
            ),
            unexplained_frames=5,
        ),
        "ledger_trial": 8,
        "busy_cycles_per_packet": 147.6,
        "cycles_source": "dut",
        "core_hz": 3_400_000_000,
    }
    return Outcome.model_validate(fields | changed)


def searched(
    search: int,
    dut: str,
    frame_bytes: int,
    capacity_pps: float,
    numbers: Iterable[int],
    line_pps: float | None,
) -> list[Record]:
    """Trials of a halving search under a cliff at `capacity_pps`, and their outcome.

    The line caps the capacity where there is one, and is then what limited the result.
    """
    frames, number, seconds = mix(frame_bytes), iter(numbers), 0.5
    made: list[Trial] = []
    cycles = TSC_HZ / capacity_pps
    limit = Limit(by="DUT core busy", evidence=("cpu_run_ns 99.8 % of the trial",))
    if line_pps is not None and line_pps < capacity_pps:
        limit = Limit(by="line rate", evidence=(f"offered at most {line_pps / 1e6:.3f} Mpps",))
        capacity_pps = line_pps
    low, high = 0.0, capacity_pps * 1.9
    load = high
    while (high - low) / high > 0.01:
        missing = max(0, round((load - capacity_pps) * seconds))
        if len(made) == 3:
            stalled = ("the tester's loop stood still for 3.0 ms (limit 1.0 ms)",)
            made.append(trial(next(number), dut, frames, load, seconds, 9_000, invalid=stalled))
        purpose = "probe" if not made else "search"
        made.append(trial(next(number), dut, frames, load, seconds, missing, purpose))
        low, high = (low, load) if missing else (load, high)
        load = (low + high) / 2
    failed = [t for t in made if t.valid and t.missing_frames][-1]
    delay = latency(round(low * 2), 7_000 + 4 * frame_bytes)
    confirm = trial(next(number), dut, frames, low, 2, 0, "confirm", delay=delay)
    lost = failed.missing_frames
    return [
        *(t.model_copy(update={"search": search}) for t in (*made, confirm)),
        outcome(
            dut,
            frames,
            search=search,
            throughput_pps=low,
            upper_load_pps=high,
            confirmed_trial=confirm.number,
            trials=len(made) + 1,
            invalid_trials=1,
            seconds=(len(made) + 1) * 0.8 + 2,
            ledger=Ledger(
                offered_frames=failed.offered_frames,
                received_frames=failed.offered_frames - lost,
                lost=(
                    Fate(
                        place="DUT input queue",
                        frames=lost - lost // 9,
                        counter="refused_frames, tester port 0",
                    ),
                    Fate(
                        place="DUT transmit",
                        frames=lost // 9,
                        counter="tx_dropped, testpmd port 1",
                    ),
                ),
                unexplained_frames=0,
            ),
            ledger_trial=failed.number,
            busy_cycles_per_packet=cycles,
            limit=limit,
        ),
    ]


def whole_run(
    link_bps: int | None = None, faster: float = 1.0, wire: str = "vhost-user"
) -> list[Record]:
    """Two DUTs at the seven frame sizes of RFC 2544, and the end of the run."""
    number, search = count(1), count(1)
    run: list[Record] = [setup(link_bps=link_bps, wire=wire, planned=2 * len(FRAME_BYTES))]
    for dut, cycles in (("testpmd macswap", 148.0), ("l3fwd lpm", 191.0)):
        for frame_bytes in FRAME_BYTES:
            capacity = TSC_HZ / (cycles + frame_bytes * 0.11) * faster
            line_pps = None if link_bps is None else link_bps / 8 / (frame_bytes + 20)
            run += searched(next(search), dut, frame_bytes, capacity, number, line_pps)
    return [*run, end()]
