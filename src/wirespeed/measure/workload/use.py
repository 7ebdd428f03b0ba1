"""What a host did between readings of its counters: ports, TCP, cores. Pure.

One reading is one command, `cat` of four files, after one of /proc/net/dev alone: an mlx5 in
switchdev mode gives what the reading before made it ask the card for (mlx5e_get_stats() in
en_main.c).

/proc/uptime    seconds since boot: the host's own clock (proc_uptime(5))
/proc/net/dev   bytes received and sent, per netdev: columns 1 and 9 (proc_net(5))
/proc/net/snmp  Tcp: OutSegs, without those that only repeat, and RetransSegs (RFC 4022)
/proc/stat      ticks per core; their order is network_host_cpu's
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from wirespeed.model.workload_trial import CoreUse, HostUse, PortUse

READ = (
    "sh", "-c",
    "cat /proc/net/dev >/dev/null; sleep 0.1; "
    "cat /proc/uptime /proc/net/dev /proc/net/snmp /proc/stat",
)  # fmt: skip
SHORTEST_INTERVAL_S = 0.5
"""For a peak: over less, a tick of 10 ms is too much of it."""
_UPTIME = re.compile(r"^(\d+\.\d+) \d+\.\d+$", re.M)
_PORT = re.compile(r"^ *([^\s:][^\s]*): *(\d+(?: +\d+){15}) *$", re.M)
_TCP = re.compile(r"^Tcp: (.+)\nTcp: (.+)$", re.M)
_CORE = re.compile(r"^cpu(\d+) (\d+(?: \d+){7,}) *$", re.M)
_IDLE, _IOWAIT, _STEAL, _FIELDS = 3, 4, 7, 8
_SENT_COLUMN = 8


@dataclass(frozen=True, slots=True)
class Counters:
    """One reading."""

    uptime_s: float
    ports: dict[str, tuple[int, int]]
    """Bytes received and sent."""
    segments: tuple[int, int] | None
    """Sent, and sent again."""
    cores: dict[int, tuple[int, int]]
    """Ticks busy, and all."""


def parse_counters(text: str) -> Counters | None:
    """Read the four files; None where there is no clock to divide by."""
    uptime = _UPTIME.search(text)
    if uptime is None:
        return None
    ports = {}
    for match in _PORT.finditer(text):
        columns = [int(word) for word in match[2].split()]
        ports[match[1]] = (columns[0], columns[_SENT_COLUMN])
    cores = {}
    for match in _CORE.finditer(text):
        ticks = [int(word) for word in match[2].split()[:_FIELDS]]
        total = sum(ticks)
        cores[int(match[1])] = (total - ticks[_IDLE] - ticks[_IOWAIT] - ticks[_STEAL], total)
    return Counters(float(uptime[1]), ports, _segments(text), cores)


def _segments(text: str) -> tuple[int, int] | None:
    for match in _TCP.finditer(text):
        values = dict(zip(match[1].split(), match[2].split(), strict=False))
        sent, again = values.get("OutSegs", ""), values.get("RetransSegs", "")
        if sent.isdecimal() and again.isdecimal():
            return int(sent), int(again)
    return None


def host_use(host: str, readings: Sequence[Counters], failed: str = "") -> HostUse:
    """Give means from the first to the last reading, and the peaks between two of them."""
    seconds = readings[-1].uptime_s - readings[0].uptime_s if readings else 0.0
    if len(readings) < 2 or seconds <= 0:
        return HostUse(
            host=host,
            seconds=0.0,
            readings=len(readings),
            ports=(),
            sent_segments=None,
            retransmitted_segments=None,
            cores=(),
            failed=failed or "no time passed between two readings",
        )
    first, last = readings[0], readings[-1]
    pairs = [
        (one, next_)
        for one, next_ in pairwise(readings)
        if next_.uptime_s - one.uptime_s >= SHORTEST_INTERVAL_S
    ]
    segments = _grown(first.segments, last.segments)
    return HostUse(
        host=host,
        seconds=seconds,
        readings=len(readings),
        ports=tuple(_ports(first, last, pairs)),
        sent_segments=segments[0] if segments else None,
        retransmitted_segments=segments[1] if segments else None,
        cores=tuple(_cores(first, last, pairs)),
        failed=failed,
    )


def _ports(
    first: Counters, last: Counters, pairs: Sequence[tuple[Counters, Counters]]
) -> list[PortUse]:
    found = []
    for netdev in last.ports:
        mean = _carried(netdev, first, last)
        if mean is None or mean == (0, 0):
            continue
        peaks = [each for one, two in pairs if (each := _carried(netdev, one, two)) is not None]
        found.append(
            PortUse(
                netdev=netdev,
                received_bps=mean[0],
                sent_bps=mean[1],
                received_bps_peak=max((peak[0] for peak in peaks), default=None),
                sent_bps_peak=max((peak[1] for peak in peaks), default=None),
            )
        )
    return found


def _carried(netdev: str, one: Counters, two: Counters) -> tuple[float, float] | None:
    grown = _grown(one.ports.get(netdev), two.ports.get(netdev))
    if grown is None:
        return None
    seconds = two.uptime_s - one.uptime_s
    return grown[0] * 8 / seconds, grown[1] * 8 / seconds


def _cores(
    first: Counters, last: Counters, pairs: Sequence[tuple[Counters, Counters]]
) -> list[CoreUse]:
    found = []
    for core in sorted(last.cores):
        busy = _busy(core, first, last)
        if busy is None:
            continue
        peaks = [each for one, two in pairs if (each := _busy(core, one, two)) is not None]
        found.append(CoreUse(core=core, busy=busy, busy_peak=max(peaks, default=None)))
    return found


def _busy(core: int, one: Counters, two: Counters) -> float | None:
    grown = _grown(one.cores.get(core), two.cores.get(core))
    return grown[0] / grown[1] if grown and grown[1] else None


def _grown(one: tuple[int, int] | None, two: tuple[int, int] | None) -> tuple[int, int] | None:
    """Give by how much both counters grew; None where they began anew between the two."""
    if one is None or two is None or two[0] < one[0] or two[1] < one[1]:
        return None
    return two[0] - one[0], two[1] - one[1]
