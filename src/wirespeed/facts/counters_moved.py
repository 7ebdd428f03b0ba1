"""Every counter of a port that moved during the capture, and what kind of thing it counts.

A counter is classed by its name: drivers name them in few words (the kernel's
Documentation/networking/statistics.rst asks for it), and a driver that nobody here knew does too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Self

from wirespeed.facts.ports import Ports
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Known, Observed, Unreadable

LINE = re.compile(r"^\s*(\S(?:.{0,80}\S)?): (\d{1,20})\s*$", re.A)
QUEUE = re.compile(r"\d+")


class Counts(StrEnum):
    """What a counter counts, by its name."""

    TRAFFIC = "traffic"
    LOSS = "loss"
    CONGESTION = "congestion"
    ERROR = "errors"
    TOO_LONG = "frames longer than the port takes"
    UNKNOWN = "unknown"


ORDINARY = re.compile(
    r"cache_|page_pool|recycle|corrected|err_lane_\d|no_buffer_count|steer_missed|filter|no_handler"
    r"|csum_(none|complete|unnecessary)|out_of_range_len|_(fd|fdir|flow_?director)_|fdir_"
)
"""Names with a word of loss in them that count none: caches of pages, bits before FEC (mlx5's
`rx_err_lane_0_phy`), frames that wait in igb's packet buffer (`rx_no_buffer_count`), frames for
other addresses, flow-director lookups (ixgbe's `fdir_miss`)."""
NAMES = (
    (Counts.TOO_LONG, r"long_length|too_long|over_?size"),
    (
        Counts.LOSS,
        r"drop|discard|miss|overflow|overrun|over_err|fifo|no_?(buf|dma|desc|mem|skb|frag|pbuf|erx)"
        r"|\boob\b|out_of_buf|oom|nodesc|xdp_\w*full|tx_full",
    ),
    (
        Counts.CONGESTION,
        r"pause|xoff|xon|ecn|cnp|stop|busy|restart|throttle|defer|exhaust|allowance|wake|stall"
        r"|congest|congst",
    ),
    (
        Counts.ERROR,
        r"err|fail|crc|fcs|\bbad|_bad|jabber|fragment|undersize|runt|collision|col$|latecol"
        r"|timeout|corrupt|illegal|symbol|fault|invalid|abort|underrun|underflow|reset|watchdog"
        r"|align|too_(short|small)|malicious|poison|recover",
    ),
    (
        Counts.TRAFFIC,
        r"packet|pkt|byte|frame|octet|cast|good|tso|lro|gro\b|gro_|tpa|aggreg|csum|checksum|poll"
        r"|interrupt|irq|event|page|arm|compl|cqe|desc|xdp|napi|vlan|stamp|kick|doorbell|linearize"
        r"|nop|inline|xmit|wqe|umr|size_|_to_|tls|ipsec|count$|\brx_q|\btx_q",
    ),
)
"""In this order: `rx_dropped_frames` is loss, `tx_pause_frames` congestion."""
BY_NAME = tuple((counts, re.compile(pattern)) for counts, pattern in NAMES)


@dataclass(frozen=True, slots=True)
class Moved:
    """One counter, the same of all queues together."""

    name: str
    """As the driver has it, with `#` for the number of a queue where several moved."""
    count: int
    counts: Counts


@dataclass(frozen=True, slots=True)
class MovedCounters(Fact):
    """What moved at each port that has a netdev, by `ethtool -S`, the greatest first."""

    by_netdev: dict[str, Observed[tuple[Moved, ...]]]

    script: ClassVar[str] = ""
    """Both readings are those of the counters."""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Compare the two readings line by line: only a line that changed is read."""
        return cls(
            {
                port.netdev: _moved(capture, port.netdev)
                for port in Ports.parse(capture).ports
                if port.netdev
            }
        )


def class_of(name: str) -> Counts:
    """Class a counter by the words of its name."""
    words = name.lower().replace("-", "_")
    if ORDINARY.search(words):
        return Counts.TRAFFIC
    return next((counts for counts, word in BY_NAME if word.search(words)), Counts.UNKNOWN)


def _moved(capture: Capture, netdev: str) -> Observed[tuple[Moved, ...]]:
    command = f"ethtool -S {netdev}"
    first = capture.text("ethtool-S", command, netdev)
    last = capture.text("ethtool-S-again", command, netdev)
    if not isinstance(first, Known):
        return first
    if not isinstance(last, Known):
        return last
    before, after = first.value.splitlines(), last.value.splitlines()
    if len(before) != len(after):
        return Unreadable("the two readings do not list the same counters", command)
    grown: dict[str, list[tuple[str, int]]] = {}
    for old, new in zip(before, after, strict=True):
        if old != new:
            for name, count in _growth(old, new):
                grown.setdefault(QUEUE.sub("#", name), []).append((name, count))
    moved = (
        Moved(
            name=some[0][0] if len(some) == 1 else name,
            count=sum(count for _, count in some),
            counts=class_of(some[0][0]),
        )
        for name, some in grown.items()
    )
    return Known(tuple(sorted(moved, key=lambda one: -one.count)), command)


def _growth(old: str, new: str) -> Iterator[tuple[str, int]]:
    """Give the counter of two lines and how far it grew; one that fell was reset in between."""
    was, now = LINE.match(old), LINE.match(new)
    if was is not None and now is not None and was[1] == now[1] and int(now[2]) > int(was[2]):
        yield now[1], int(now[2]) - int(was[2])
