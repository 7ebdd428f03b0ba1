"""Interrupt coalescing of a netdev: how long it waits before it tells the host of frames."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.ethtool import ethtool_answer, number_of, on_or_off, word_of
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed, read_as

CHOOSES_AT: dict[str, tuple[int, ...]] = {
    "igb": (3, 1),
    "igc": (3, 1),
    "e1000e": (3, 1, 4),
    "ixgbe": (1,),
    "ixgbevf": (1,),
}
"""Values of rx-usecs that are no time: the driver then chooses the wait by the load, and has no
other word for `adaptive`. The first is what it comes with: IGB_DEFAULT_ITR of igb.h,
IGC_DEFAULT_ITR of igc.h, e1000_set_coalesce() of e1000e/ethtool.c, ixgbe_set_coalesce() and
ixgbevf_set_coalesce()."""


@dataclass(frozen=True, slots=True)
class NetdevCoalescing:
    """`ethtool -c` of one netdev. Absent: the driver has no such setting."""

    adaptive_rx: Observed[bool]
    """The driver chooses the delays itself, from the load."""
    adaptive_tx: Observed[bool]
    rx_usecs: Observed[int]
    """Microseconds that the first frame waits for more; 0: none."""
    rx_frames: Observed[int]
    """Frames after which it does not wait any longer."""
    tx_usecs: Observed[int]
    tx_frames: Observed[int]
    cqe_mode_rx: Observed[bool]
    """The wait starts anew at every completion, not at the first one."""
    cqe_mode_tx: Observed[bool]


@dataclass(frozen=True, slots=True)
class Coalescing(Fact):
    """Coalescing of every port's netdev."""

    netdevs: dict[str, NetdevCoalescing]

    script: ClassVar[str] = """\
for netdev in $port_netdevs; do
	run ethtool-coalescing "$netdev" ethtool -c "$netdev"
done
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `ethtool-coalescing` of each netdev."""
        netdevs = capture.sections("ethtool-coalescing")
        return cls({netdev: _read(capture, netdev) for netdev in netdevs})

    def of(self, netdev: str) -> NetdevCoalescing:
        """Coalescing of one netdev; unreadable where it was not asked about."""
        return self.netdevs.get(netdev) or _read(Capture([], complete=False), netdev)


def _read(capture: Capture, netdev: str) -> NetdevCoalescing:
    answer = ethtool_answer(capture, "ethtool-coalescing", netdev, "-c")
    # `Adaptive RX: on  TX: off` is two settings in one line.
    lines = read_as(
        answer,
        lambda text: re.sub(
            r"^(Adaptive|CQE mode) RX:[ \t]*(\S+)[ \t]+TX:[ \t]*(\S+)",
            r"\1 RX: \2\n\1 TX: \3",
            text,
            flags=re.M,
        ),
    )
    return NetdevCoalescing(
        adaptive_rx=on_or_off(word_of(lines, "Adaptive RX")),
        adaptive_tx=on_or_off(word_of(lines, "Adaptive TX")),
        rx_usecs=number_of(lines, "rx-usecs"),
        rx_frames=number_of(lines, "rx-frames"),
        tx_usecs=number_of(lines, "tx-usecs"),
        tx_frames=number_of(lines, "tx-frames"),
        cqe_mode_rx=on_or_off(word_of(lines, "CQE mode RX")),
        cqe_mode_tx=on_or_off(word_of(lines, "CQE mode TX")),
    )
