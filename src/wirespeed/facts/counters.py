"""What a port counted, by the place on a frame's way: since boot and during the capture."""

import re
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, Self

from wirespeed.facts.counters_places import (
    ANY_DRIVER,
    BY_DRIVER,
    NETDEV,
    STALLED_PERCENT,
    Place,
    Row,
)
from wirespeed.facts.ports import Ports
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

__all__ = ["Counters", "Delta", "Place", "PortCounters"]

STATISTICS = ("rx_packets", "tx_packets", "tx_dropped", "rx_missed_errors", "rx_crc_errors")
CARRIER_DOWN = "carrier_down_count"
"""Beside the statistics in sysfs, since Linux 4.16."""
MAX_DIGITS = 20
"""Of a counter: 2^64."""


@dataclass(frozen=True, slots=True)
class Delta:
    """How much one place counted between the two readings."""

    count: int
    seconds: float
    """Between the two readings, by /proc/uptime beside each."""
    counters: tuple[str, ...]
    """Names of the counters that it is the sum of."""
    grown: tuple[str, ...]
    """Those of them that moved."""
    ever: tuple[str, ...] = field(default=(), compare=False)
    """Those of them that counted anything since the driver was loaded."""

    @property
    def frames(self) -> int:
        """The count, of a place that counts frames."""
        return self.count

    @property
    def per_second(self) -> float:
        """Count per second."""
        return self.count / self.seconds


@dataclass(frozen=True, slots=True)
class PortCounters:
    """What one port counted at the places that its driver has a known counter for."""

    totals: dict[Place, Observed[int]]
    """Since the driver was loaded, at the end of the capture."""
    deltas: dict[Place, Observed[Delta]]
    """Unreadable where a counter went down: it was reset or wrapped in between."""
    stalled_percent: Observed[int]
    """Share of the last second in which the card waited for PCIe credits, the worse direction."""


@dataclass(frozen=True, slots=True)
class Counters(Fact):
    """Counters of every port that has a netdev."""

    by_netdev: dict[str, PortCounters]

    # The clock is read beside each reading: ports come one after another. `ethtool -S` goes first:
    # it makes an mlx5 ask the card (mlx5e_ethtool_get_ethtool_stats()), where sysfs gives what the
    # driver last asked for, maybe hours ago (mlx5e_get_stats() in en_main.c).
    script: ClassVar[str] = """\
port_statistics() {
	read -r uptime idle </proc/uptime
	printf 'uptime %s\\n' "$uptime"
	for name in STATISTICS; do
		{ read -r count <"/sys/class/net/$1/statistics/$name"; } 2>/dev/null &&
			printf '%s %s\\n' "$name" "$count"
	done
	{ read -r count <"/sys/class/net/$1/CARRIER_DOWN"; } 2>/dev/null &&
		printf 'CARRIER_DOWN %s\\n' "$count"
	:
}
all_counters() {
	for netdev in $port_netdevs; do
		run "ethtool-S$1" "$netdev" ethtool -S "$netdev"
		show "statistics$1" "$netdev" port_statistics "$netdev"
	done
}
all_counters ''
""".replace("STATISTICS", " ".join(STATISTICS)).replace("CARRIER_DOWN", CARRIER_DOWN)
    script_again: ClassVar[str] = "all_counters -again\n"

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Add up the counters of each place, in both readings."""
        return cls(
            {
                port.netdev: _port(capture, port.netdev, port.driver)
                for port in Ports.parse(capture).ports
                if port.netdev
            }
        )

    def delta(self, netdev: str | None, place: Place) -> Observed[Delta]:
        """What a place counted during the capture; Absent where the driver has no such counter."""
        port = self.by_netdev.get(netdev or "")
        if port is None:
            return Absent(f"ethtool -S {netdev}", "a port without a netdev has no counters here")
        return port.deltas.get(place, _no_counter(netdev))

    def total(self, netdev: str | None, place: Place) -> Observed[int]:
        """What a place counted since the driver was loaded."""
        port = self.by_netdev.get(netdev or "")
        if port is None:
            return Absent(f"ethtool -S {netdev}", "a port without a netdev has no counters here")
        return port.totals.get(place, _no_counter(netdev))


def _no_counter(netdev: str | None) -> Absent:
    return Absent(f"ethtool -S {netdev}", "the driver has no such counter")


@dataclass(frozen=True, slots=True)
class _Reading:
    """Every counter of a port at one moment."""

    values: dict[str, int]
    uptime_s: float | None
    own: Observed[str]
    """What `ethtool -S` said."""
    shared: Observed[str]
    """What /sys/class/net/*/statistics said."""

    def missing(self, pattern: str) -> Absent | Unreadable:
        """Say why no counter of that name is there."""
        source = self.shared if pattern.startswith(NETDEV) else self.own
        if isinstance(source, Unreadable):
            return source
        return Absent(source.source, "the driver has no such counter")


def _port(capture: Capture, netdev: str, driver: str | None) -> PortCounters:
    first, last = (_reading(capture, netdev, driver, again) for again in ("", "-again"))
    rows = BY_DRIVER.get(driver or "", ANY_DRIVER)
    stalled = [last.values[name] for name in _fitting(STALLED_PERCENT, last)]
    return PortCounters(
        totals={row.place: _total(row, last) for row in rows},
        deltas={row.place: _delta(row, first, last) for row in rows},
        stalled_percent=Known(max(stalled), last.own.source)
        if stalled
        else last.missing(STALLED_PERCENT),
    )


@cache
def _known_lines(driver: str | None) -> re.Pattern[str]:
    """Match the lines of `ethtool -S` that a row is about: a card has some 50 a queue."""
    rows = BY_DRIVER.get(driver or "", ())
    names = "|".join([STALLED_PERCENT, *(group for row in rows for group in row.groups)])
    return re.compile(rf"^[ \t]*((?:{names})): (\d{{1,{MAX_DIGITS}}})[ \t\r]*$", re.M | re.A)


def _reading(capture: Capture, netdev: str, driver: str | None, again: str) -> _Reading:
    own = capture.text(f"ethtool-S{again}", f"ethtool -S {netdev}", netdev)
    shared = capture.text(f"statistics{again}", f"ip -s -s link show dev {netdev}", netdev)
    values: dict[str, int] = {}
    uptime_s = None
    if isinstance(own, Known):
        for match in _known_lines(driver if driver in BY_DRIVER else None).finditer(own.value):
            # A driver that has a block for each queue gives the same names in each.
            values[match[1]] = values.get(match[1], 0) + int(match[match.re.groups])
    if isinstance(shared, Known):
        for line in shared.value.splitlines():
            name, _, count = line.partition(" ")
            if name == "uptime":
                uptime_s = _seconds(count)
            elif (number := _count(count)) is not None:
                values[NETDEV + name] = number
    return _Reading(values, uptime_s, own, shared)


def _count(text: str) -> int | None:
    """A counter; None for what is none, as a ring's name or a text."""
    text = text.strip()
    if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
        return None
    return int(text)


def _seconds(text: str) -> float | None:
    whole, _, hundredths = text.strip().partition(".")
    digits = whole + hundredths
    if not (digits.isascii() and digits.isdecimal() and whole and len(digits) <= MAX_DIGITS):
        return None
    return float(text)


def _names(row: Row, reading: _Reading) -> tuple[str, ...]:
    """Give the names of the first group of which the reading has any."""
    return next((names for group in row.groups if (names := _fitting(group, reading))), ())


def _fitting(pattern: str, reading: _Reading) -> tuple[str, ...]:
    return tuple(name for name in reading.values if re.fullmatch(pattern, name))


def _total(row: Row, reading: _Reading) -> Observed[int]:
    names = _names(row, reading)
    if not names:
        return reading.missing(row.groups[0])
    return Known(sum(reading.values[name] for name in names), _source(names, reading))


def _delta(row: Row, first: _Reading, last: _Reading) -> Observed[Delta]:
    names = _names(row, last)
    if not names:
        return last.missing(row.groups[0])
    source = _source(names, last)
    if names != _names(row, first):
        before = first.missing(names[0])
        if isinstance(before, Unreadable):
            return before
        return Unreadable("its counters changed between the two readings", source)
    if first.uptime_s is None or last.uptime_s is None or last.uptime_s <= first.uptime_s:
        return Unreadable("the time between the two readings is not known", source)
    by_name = {n.removeprefix(NETDEV): last.values[n] - first.values[n] for n in names}
    if min(by_name.values()) < 0:
        return Unreadable("a counter went down between the readings: it was reset", source)
    return Known(
        Delta(
            count=sum(by_name.values()),
            seconds=last.uptime_s - first.uptime_s,
            counters=tuple(by_name),
            grown=tuple(name for name, count in by_name.items() if count),
            ever=tuple(n.removeprefix(NETDEV) for n in names if last.values[n]),
        ),
        source,
    )


def _source(names: tuple[str, ...], reading: _Reading) -> str:
    return (reading.shared if names[0].startswith(NETDEV) else reading.own).source
