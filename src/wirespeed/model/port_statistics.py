"""What a DUT's driver counts of a port beside DPDK's own counters: by queue, priority and cause."""

import re
from collections.abc import Mapping

from pydantic import Field

from wirespeed.model.frozen import Finite

MOST = 64
"""Statistics of one port that are kept of one trial: a card with many queues has thousands."""
_TOLD_ELSEWHERE = frozenset(
    f"{way}_good_{unit}" for way in ("rx", "tx") for unit in ("packets", "bytes")
) | {"rx_missed_errors", "rx_errors", "tx_errors", "rx_mbuf_allocation_errors"}
"""ethdev's generic ones (rte_ethdev.c, `eth_dev_stats_strings`), which are those of `/ethdev/stats`
under other names."""
_OF_LOSS = re.compile(
    r"^(?!.*(?:management|hairpin|xsum|linklocal))"
    r".*(?:err(?:or|s?_|s?$)|drop|discard|missed|out_of_buffer|no_?(?:m?buf|desc)|alloc|crc|fail|"
    r"oversize|jabber|exceeded|overflow)"
)
"""Parts of names, of mlx5 (rx_out_of_buffer, rx_phy_discard_packets, rx_q0_errors), bnxt
(rx_fcs_err_frames), ena (bw_in_allowance_exceeded), Intel's and others' drivers: what did not
become a packet, and why. Not what was never meant for the host, nor ixgbe's rx_l3_l4_xsum_error: an
82599 counts there every UDP frame without a checksum (ixgbe_ethdev.c), as the tester's are."""


class PortStatistics(Finite):
    """Those of one port that rose over a trial."""

    port: int
    rose: dict[str, int] = Field(default_factory=dict)
    """Name, as the driver has it, to the difference: what tells of loss first, then the largest."""
    left_out: int = 0
    """Further ones that rose and are not kept."""

    @property
    def of_loss(self) -> dict[str, int]:
        """Those that tell of frames which were lost."""
        return {name: count for name, count in self.rose.items() if _OF_LOSS.search(name)}


def risen(port: int, before: Mapping[str, int], after: Mapping[str, int]) -> PortStatistics:
    """Subtract two readings of a port. What is in one of them alone is not compared."""
    changed = {
        name: after[name] - count
        for name, count in before.items()
        if name in after and after[name] != count and name not in _TOLD_ELSEWHERE
    }
    order = sorted(changed, key=lambda n: (not _OF_LOSS.search(n), -abs(changed[n]), n))
    return PortStatistics(
        port=port,
        rose={name: changed[name] for name in order[:MOST]},
        left_out=max(0, len(order) - MOST),
    )
