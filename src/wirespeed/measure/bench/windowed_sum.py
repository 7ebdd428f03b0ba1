"""The counts of several windows as those of one trial: sums where they add up. Pure."""

from collections import Counter
from collections.abc import Sequence

from wirespeed.measure.bench.testbed import BedTrial
from wirespeed.measure.bench.tester_protocol import WindowReply
from wirespeed.model.trial import DutReading, Latency, PortCounters, StreamCounts, TesterHealth

_LARGEST = ("gap_ns_max", "pass_ns_max")
_SAME = ("gap_limit_ns", "tsc_hz", "core_hz", "pingpong_cycles_before", "pingpong_cycles_after")
_SMALLEST = ("rx_burst_frames",)


def sum_streams(windows: Sequence[tuple[StreamCounts, ...]]) -> tuple[StreamCounts, ...]:
    """Add up each stream's counts; the extent of reordering is the largest."""
    made = []
    for stream in zip(*windows, strict=True):
        fields = {name: sum(getattr(s, name) for s in stream) for name in StreamCounts.model_fields}
        fields["reorder_extent_max"] = max(s.reorder_extent_max for s in stream)
        fields.update(tx_port=stream[0].tx_port, rx_port=stream[0].rx_port)
        made.append(StreamCounts(**fields))
    return tuple(made)


def sum_ports(windows: Sequence[tuple[PortCounters, ...]]) -> tuple[PortCounters, ...]:
    """Add up the counters of each port; none if a window lacks one."""
    if len({tuple(p.port for p in ports) for ports in windows}) != 1:
        return ()
    names = PortCounters.model_fields.keys() - {"port", "discards"}
    return tuple(
        PortCounters(
            port=same[0].port,
            discards=dict(sum((Counter(p.discards) for p in same), Counter())),
            **{n: sum(getattr(p, n) for p in same) for n in names},
        )
        for same in zip(*windows, strict=True)
    )


def sum_latency(windows: Sequence[Latency]) -> Latency | None:
    """Give the least of the least and of each other figure the highest of any window.

    So no quantile of all the frames together is above what is given.
    """
    if not windows:
        return None
    highest = {
        name: max((v for one in windows if (v := getattr(one, name)) is not None), default=None)
        for name in Latency.model_fields
        if name.startswith("latency_ns_")
    }
    highest["latency_ns_min"] = min(latency.latency_ns_min for latency in windows)
    frames = sum(latency.frames for latency in windows)
    return Latency(**highest, frames=frames, source=windows[0].source)


def sum_tester(windows: Sequence[TesterHealth]) -> TesterHealth:
    """Add up times; the longest of what is a longest; a cache line's way before and after all."""
    first, last = windows[0], windows[-1]
    fields: dict[str, object] = {}
    for name in TesterHealth.model_fields:
        values = [v for w in windows if (v := getattr(w, name)) is not None]
        if not values:
            fields[name] = None
        elif name in _LARGEST:
            fields[name] = max(values)
        elif name in _SMALLEST:
            fields[name] = min(values)
        elif name == "busy_cycles_per_frame":
            fields[name] = sum(values) / len(values)
        elif name in _SAME:
            fields[name] = values[0]
        else:
            fields[name] = sum(values)
    fields["pingpong_cycles_before"] = first.pingpong_cycles_before
    fields["pingpong_cycles_after"] = last.pingpong_cycles_after
    return TesterHealth.model_validate(fields)


Runs = Sequence[tuple[BedTrial, Sequence[WindowReply]]]
"""What the tester made in one run, and the windows of it that do not count."""


def sum_counters(runs: Runs, *, ran_ns: int | None) -> tuple[tuple[PortCounters, ...], DutReading]:
    """Give the tester's ports and the DUT's account, of the windows that count alone.

    Ports count over whole runs. The frames of a void window without loss are known exactly at every
    port and are subtracted. If a void window lost frames, the place is not known, and no port's
    counters are given.
    """
    ports = sum_ports([made.result.counters for made, _ in runs])
    dut = sum_dut([made.dut for made, _ in runs])
    void = [reply for _, replies in runs for reply in replies]
    if any(reply.missing_frames for reply in void) or (void and len(ports) > 1):
        return (), dut.model_copy(update={"ports": (), "cpu_run_ns": ran_ns})
    frames = sum(reply.offered_frames for reply in void)
    return _less(ports, frames), dut.model_copy(
        update={"ports": _less(dut.ports, frames), "cpu_run_ns": ran_ns}
    )


def _less(ports: tuple[PortCounters, ...], frames: int) -> tuple[PortCounters, ...]:
    """Take frames off that went in and out; how many bytes they had is not counted apart."""
    return tuple(
        port.model_copy(
            update={"ipackets": port.ipackets - frames, "opackets": port.opackets - frames}
        )
        for port in ports
    )


def sum_dut(windows: Sequence[DutReading]) -> DutReading:
    """Add up what the DUT said of itself; its cycles per packet weigh by the packets it took."""
    fields: dict[str, object] = {}
    for name in ("forward_tx_dropped", "cpu_run_ns", "cpu_wait_ns", "steal_ns"):
        values = [getattr(w, name) for w in windows]
        fields[name] = None if None in values else sum(values)
    weighed = [
        (w.busy_cycles_per_packet, sum(port.ipackets for port in w.ports))
        for w in windows
        if w.busy_cycles_per_packet is not None
    ]
    packets = sum(count for _, count in weighed)
    if packets:
        fields["busy_cycles_per_packet"] = sum(c * n for c, n in weighed) / packets
    return DutReading.model_validate({**fields, "ports": sum_ports([w.ports for w in windows])})
