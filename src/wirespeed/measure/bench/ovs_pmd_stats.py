"""What `ovs-appctl dpif-netdev/pmd-stats-show` says of one polling thread. Pure.

From Open vSwitch 4.0 on, it prints what `pmd-perf-show` prints: other words, and no sum of the
cycles (`pmd_perf_format_overall_stats`, lib/dpif-netdev-perf.c).
"""

import re

from wirespeed.model.frozen import Frozen

_THREAD = re.compile(r"^pmd thread numa_id (\d+) core_id (\d+):$")
_FIELD = re.compile(r"^  ([A-Za-z. -]+): *(\d+)(?: +\(|$)")
_PACKETS = "Rx packets"
"""A line of the newer form alone."""
_NEGATIVE = 1 << 63
"""As an unsigned counter of 64 bits shows what is below zero."""


class PmdStats(Frozen):
    """Cumulative, since the thread began or its counters were cleared."""

    packets: int
    """Taken from ports; one that comes out of a tunnel is not counted again."""
    recirculations: int
    """Further passes of a packet: one for each end of a tunnel that it comes out of."""
    processing_cycles: int | None
    """TSC cycles of the polls that found packets. None: its sum fell below zero, as happens where
    its core is taken away, and is printed as one of almost 2^64; or the version prints no sum."""
    idle_cycles: int | None
    """None: the version prints no sum."""
    upcalls: int
    """Packets that no flow of the datapath was there for."""


def parse_pmd_stats(text: str, cpu: int) -> PmdStats:
    """Read the thread on `cpu`. Raises ValueError when it is not there, or a line of it."""
    fields: dict[str, int] = {}
    is_ours = False
    for line in text.splitlines():
        if line and not line.startswith(" "):
            thread = _THREAD.match(line)
            is_ours = thread is not None and int(thread[2]) == cpu
        elif is_ours and (field := _FIELD.match(line)):
            fields[field[1]] = int(field[2])
    try:
        return _of_perf_show(fields) if _PACKETS in fields else _of_stats_show(fields)
    except KeyError as error:
        raise ValueError(f"no line {error} of a polling thread on CPU {cpu}") from None


def _of_stats_show(fields: dict[str, int]) -> PmdStats:
    processing = fields["processing cycles"]
    return PmdStats(
        packets=fields["packets received"],
        recirculations=fields["packet recirculations"],
        processing_cycles=None if processing >= _NEGATIVE else processing,
        idle_cycles=fields["idle cycles"],
        upcalls=fields["miss with success upcall"] + fields["miss with failed upcall"],
    )


def _of_perf_show(fields: dict[str, int]) -> PmdStats:
    # Its busy cycles stand there only as a share in tenths of a per cent, and as whole cycles a
    # packet since the start: too coarse for the difference between two readings.
    packets = fields[_PACKETS]
    # Without a packet it prints no passes and no upcalls.
    return PmdStats(
        packets=packets,
        recirculations=fields["Datapath passes"] - packets if packets else 0,
        processing_cycles=None,
        idle_cycles=None,
        upcalls=fields["- Upcalls"] + fields["- Lost upcalls"] if packets else 0,
    )
