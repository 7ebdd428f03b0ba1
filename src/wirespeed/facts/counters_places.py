"""Which counter of which driver counts at which place: a table, with where its meaning is from.

A name that stands in no row is ignored. Counters whose domains overlap are never in one group:
mlx5 counts a frame with a broken symbol as `rx_symbol_err_phy` and as `rx_crc_errors_phy` alike,
and `rx_discards_phy` again as `rx_prio0_discards`.
"""

from dataclasses import dataclass
from enum import StrEnum


class Place(StrEnum):
    """Where a frame was counted. Frames, unless it says otherwise."""

    RECEIVED = "frames received"
    SENT = "frames sent"
    PORT_BUFFER = "port buffer"
    """Dropped in the card's own buffer: what is behind it takes frames too slowly."""
    PCIE = "PCIe back-pressure"
    """Dropped because the PCIe link did not take what came in."""
    PCIE_STALLED_SECONDS = "seconds with PCIe stalls"
    """Seconds in which the card waited for PCIe credits for over 30 % of the time."""
    NO_RECEIVE_BUFFER = "no receive buffer"
    """Dropped because no receive descriptor was posted: the CPU is too slow or away."""
    NO_MEMORY = "no memory for a receive buffer"
    """Allocations that failed when a receive buffer was to be filled again."""
    PHYSICAL = "physical errors"
    """Frames that arrived damaged: cable, module, FEC."""
    FEC_CORRECTED = "FEC corrected"
    """Code words, or bits where that is what the card counts."""
    FEC_UNCORRECTED = "FEC uncorrected"
    """Code words or symbols that FEC could not mend."""
    TRANSMIT = "transmit drops"
    STEERING = "no flow rule"
    """Dropped because no rule of the card's flow table took it. Ordinary for foreign multicast."""
    PAUSE_RECEIVED = "pause frames received"
    """The peer holds our transmit side back."""
    PAUSE_SENT = "pause frames sent"
    """We hold the peer back."""
    PAUSE_RECEIVED_US = "time held back by pause frames"
    """Microseconds, summed over priorities where each is paused by itself."""
    PAUSE_SENT_US = "time that the peer was held back"
    """Microseconds, likewise."""
    FUNCTION_RECEIVED = "frames received by the function"
    """At the function's own port of the card's switch, from wherever they came."""
    FUNCTION_SENT = "frames sent by the function"
    """Likewise, wherever they went; RECEIVED and SENT are the physical port's there."""
    LINK_DOWN = "times that the link went down"
    """By the card; else by the kernel, which counts what people and drivers turned off, too."""
    ALLOWANCE_IN = "inbound bandwidth of the instance"
    """Queued or dropped by the cloud because the instance had no more; likewise the next four."""
    ALLOWANCE_OUT = "outbound bandwidth of the instance"
    ALLOWANCE_PPS = "frames a second of the instance"
    ALLOWANCE_CONNECTIONS = "tracked connections of the instance"
    ALLOWANCE_LINK_LOCAL = "frames a second to the cloud's own services"


@dataclass(frozen=True, slots=True)
class Row:
    """What one place is the sum of."""

    place: Place
    groups: tuple[str, ...]
    """Patterns of names of counters that are added. The first that fits any is the one."""


def _row(place: Place, *groups: str) -> Row:
    return Row(place, groups)


NETDEV = "netdev/"
"""What the names of /sys/class/net/*/statistics start with here: they are every driver's."""
_TRAFFIC = (
    _row(Place.RECEIVED, "netdev/rx_packets"),
    _row(Place.SENT, "netdev/tx_packets"),
    _row(Place.TRANSMIT, "netdev/tx_dropped"),
)

_CARRIER = _row(Place.LINK_DOWN, "netdev/carrier_down_count")
"""Documentation/ABI/testing/sysfs-class-net: since Linux 4.16."""

ANY_DRIVER = (
    *_TRAFFIC,
    _CARRIER,
    _row(Place.NO_RECEIVE_BUFFER, "netdev/rx_missed_errors"),
    _row(Place.PHYSICAL, "netdev/rx_crc_errors"),
)
"""For drivers without rows of their own.
https://docs.kernel.org/networking/statistics.html (struct rtnl_link_stats64)"""

_MLX5 = (
    _row(Place.RECEIVED, "rx_packets_phy", "netdev/rx_packets"),
    _row(Place.SENT, "tx_packets_phy", "netdev/tx_packets"),
    _row(Place.FUNCTION_RECEIVED, "rx_vport_(rdma_)?(uni|multi|broad)cast_packets"),
    _row(Place.FUNCTION_SENT, "tx_vport_(rdma_)?(uni|multi|broad)cast_packets"),
    _row(Place.PORT_BUFFER, "rx_discards_phy"),
    _row(Place.PCIE, "outbound_pci_buffer_overflow"),
    _row(Place.PCIE_STALLED_SECONDS, "outbound_pci_stalled_(rd|wr)_events"),
    _row(Place.NO_RECEIVE_BUFFER, "rx_out_of_buffer"),
    _row(Place.NO_MEMORY, "rx_(xsk_)?buff_alloc_err"),
    _row(Place.PHYSICAL, "rx_crc_errors_phy"),
    _row(Place.FEC_CORRECTED, "rx_corrected_bits_phy"),
    _row(Place.FEC_UNCORRECTED, "rx_pcs_symbol_err_phy"),
    _row(Place.TRANSMIT, "tx_queue_dropped|tx_discards_phy|tx_errors_phy"),
    _row(Place.LINK_DOWN, "link_down_events_phy", "netdev/carrier_down_count"),
    _row(Place.STEERING, "rx_steer_missed_packets"),
    # Where priorities are paused by themselves, these are there and global pause is off.
    _row(Place.PAUSE_RECEIVED, r"rx_prio[0-7]_pause", "rx_pause_ctrl_phy"),
    _row(Place.PAUSE_SENT, r"tx_prio[0-7]_pause", "tx_pause_ctrl_phy"),
    _row(Place.PAUSE_RECEIVED_US, r"rx_prio[0-7]_pause_duration", "rx_global_pause_duration"),
    _row(Place.PAUSE_SENT_US, r"tx_prio[0-7]_pause_duration", "tx_global_pause_duration"),
)
"""https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html"""

_I40E = (
    *_TRAFFIC,
    _CARRIER,
    _row(Place.PORT_BUFFER, r"port\.rx_(dropped|discards)"),
    _row(Place.NO_RECEIVE_BUFFER, "rx_missed_errors", "rx_dropped"),
    _row(Place.NO_MEMORY, "rx_(pg_)?alloc_fail"),
    _row(Place.PHYSICAL, r"port\.rx_crc_errors"),
    _row(Place.PAUSE_RECEIVED, r"port\.(link_xoff_rx|rx_priority_[0-7]_xoff)"),
    _row(Place.PAUSE_SENT, r"port\.(link_xoff_tx|tx_priority_[0-7]_xoff)"),
)
"""drivers/net/ethernet/intel/i40e/i40e_ethtool.c: `port.` is the port's own, before any queue;
`rx_dropped` became `rx_discards` in 2023. XON ends a pause and is none. What a function drops
because a queue has no descriptor is `rx_missed_errors` since Linux 6.7 (commit *i40e: Add
rx_missed_errors for buffer exhaustion*), and was `rx_dropped` before, with frames that are too long
for the port since 5.19 (commit *i40e: Fix dropped jumbo frames statistics*)."""

_IAVF = (
    *_TRAFFIC,
    _row(Place.NO_RECEIVE_BUFFER, "rx_discards"),
)
"""drivers/net/ethernet/intel/iavf/iavf_ethtool.c: the PF tells its VF what its queues dropped."""

_ICE = (
    *_TRAFFIC,
    _CARRIER,
    _row(Place.PORT_BUFFER, r"rx_dropped\.nic"),
    _row(Place.NO_RECEIVE_BUFFER, "rx_dropped"),
    _row(Place.NO_MEMORY, "rx_(pg_)?alloc_fail"),
    _row(Place.PHYSICAL, r"rx_crc_errors\.nic"),
    _row(Place.PAUSE_RECEIVED, r"(link_xoff_rx|rx_priority_[0-7]_xoff)\.nic"),
    _row(Place.PAUSE_SENT, r"(link_xoff_tx|tx_priority_[0-7]_xoff)\.nic"),
)
"""drivers/net/ethernet/intel/ice/ice_ethtool.c: `.nic` is the port's own, the rest the function's
(VSI), which discards when a queue has no descriptor."""

_IXGBE = (
    *_TRAFFIC,
    _CARRIER,
    _row(Place.PORT_BUFFER, "rx_missed_errors"),
    _row(Place.NO_RECEIVE_BUFFER, "rx_no_dma_resources"),
    _row(Place.NO_MEMORY, "alloc_rx_(page|buff)_failed"),
    _row(Place.PHYSICAL, "rx_crc_errors"),
    _row(Place.PAUSE_RECEIVED, "rx_flow_control_xoff"),
    _row(Place.PAUSE_SENT, "tx_flow_control_xoff"),
)
"""drivers/net/ethernet/intel/ixgbe/ixgbe_ethtool.c; Intel 82599 datasheet, RXMPC: the
missed packet count (MPC) is of frames for which the packet buffer had no room."""

_IGB = (
    *_TRAFFIC,
    _CARRIER,
    _row(Place.PORT_BUFFER, "rx_missed_errors"),
    _row(Place.NO_RECEIVE_BUFFER, r"rx_queue_\d+_drops"),
    _row(Place.NO_MEMORY, r"rx_queue_\d+_alloc_failed"),
    _row(Place.PHYSICAL, "rx_crc_errors"),
    _row(Place.PAUSE_RECEIVED, "rx_flow_control_xoff"),
    _row(Place.PAUSE_SENT, "tx_flow_control_xoff"),
)
"""drivers/net/ethernet/intel/igb/igb_ethtool.c. `rx_no_buffer_count` is no loss: the frame waits in
the packet buffer."""

_E1000E = (
    *_TRAFFIC,
    _CARRIER,
    _row(Place.PORT_BUFFER, "rx_missed_errors"),
    _row(Place.NO_MEMORY, "alloc_rx_buff_failed"),
    _row(Place.PHYSICAL, "rx_crc_errors"),
    _row(Place.PAUSE_RECEIVED, "rx_flow_control_xoff"),
    _row(Place.PAUSE_SENT, "tx_flow_control_xoff"),
)
"""drivers/net/ethernet/intel/e1000e/ethtool.c: as igb, but one counter of allocations for all."""

_ATLANTIC = (
    *_TRAFFIC,
    _CARRIER,
    _row(Place.NO_RECEIVE_BUFFER, "InDroppedDma"),
    _row(Place.NO_MEMORY, r"Queue\[\d+\] (Skb)?AllocFails"),
    _row(Place.PHYSICAL, "InErrors"),
)
"""drivers/net/ethernet/aquantia/atlantic/aq_ethtool.c: `InDroppedDma` is dpc, which the driver of
DPDK calls imissed (atl_dev_stats_get); `InErrors` is erpr."""

_VMXNET3 = (
    *_TRAFFIC,
    _row(Place.NO_RECEIVE_BUFFER, "pkts rx OOB"),
    _row(Place.NO_MEMORY, "rx buf alloc fail"),
)
"""drivers/net/vmxnet3/vmxnet3_ethtool.c: out of buffers; each name stands once for each queue."""

_SFC = (
    *_TRAFFIC,
    _CARRIER,
    _row(Place.PORT_BUFFER, "port_rx_overflow"),
    _row(Place.NO_RECEIVE_BUFFER, "port_rx_nodesc_drops"),
    _row(Place.PHYSICAL, "port_rx_bad"),
    _row(Place.PAUSE_RECEIVED, "port_rx_pause"),
    _row(Place.PAUSE_SENT, "port_tx_pause"),
)
"""drivers/net/ethernet/sfc/ef10.c: of the whole port, whatever queues it was meant for."""

_BNXT = (
    *_TRAFFIC,
    _row(Place.NO_RECEIVE_BUFFER, "rx_total_ring_discards", r"\[\d+\]: rx_discards"),
    _row(Place.NO_MEMORY, "rx_total_oom_discards"),
    _row(Place.PHYSICAL, "rx_fcs_err_frames"),
    _row(Place.LINK_DOWN, "link_down_events", "netdev/carrier_down_count"),
    _row(Place.FEC_CORRECTED, "rx_fec_corrected_blocks"),
    _row(Place.FEC_UNCORRECTED, "rx_fec_uncorrectable_blocks"),
    _row(Place.PAUSE_RECEIVED, "rx_(pause|pfc)_frames"),
    _row(Place.PAUSE_SENT, "tx_(pause|pfc)_frames"),
    # Of the pauses of priorities alone.
    _row(Place.PAUSE_RECEIVED_US, "pfc_pri[0-7]_rx_duration_us"),
    _row(Place.PAUSE_SENT_US, "pfc_pri[0-7]_tx_duration_us"),
)
"""drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c"""

_ENA = (
    *ANY_DRIVER,
    _row(Place.ALLOWANCE_IN, "bw_in_allowance_exceeded"),
    _row(Place.ALLOWANCE_OUT, "bw_out_allowance_exceeded"),
    _row(Place.ALLOWANCE_PPS, "pps_allowance_exceeded"),
    _row(Place.ALLOWANCE_CONNECTIONS, "conntrack_allowance_exceeded"),
    _row(Place.ALLOWANCE_LINK_LOCAL, "linklocal_allowance_exceeded"),
)
"""https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-network-performance-ena.html;
drivers/net/ethernet/amazon/ena/ena_ethtool.c (ena_stats_eni_strings)."""

_GVE = (
    *_TRAFFIC,
    _CARRIER,
    _row(Place.NO_MEMORY, "rx_(skb|buf)_alloc_fail"),
)
"""drivers/net/ethernet/google/gve/gve_ethtool.c. `rx_no_buffers_posted[0]` and the other counters
of the device stay 0 while the private flag `report-stats` is off, as it is by default: 0 there is
no count, and the driver fills no `rx_missed_errors` either."""

CONTAINED: dict[str, frozenset[Place]] = {
    "rx_packets_phy": frozenset({Place.PORT_BUFFER, Place.PCIE, Place.NO_RECEIVE_BUFFER}),
}
"""Places whose frames a counter of received frames already holds. `rx_packets_phy` is what the
wire brought whole (802_3_cntrs, a_frames_received_ok, in mlx5/core/en_stats.c): what the card
drops afterwards is in it, a frame with a wrong check sum is not. Counters of the queues, which the
other rows count by, hold what a driver was given, and none of what was lost before; of i40e and ice
`netdev/rx_packets` is the driver's own sum over its rings (i40e_get_netdev_stats_struct,
ice_update_vsi_ring_stats), of ixgbe too (ixgbe_get_stats64)."""

BY_DRIVER: dict[str, tuple[Row, ...]] = {
    "mlx5_core": _MLX5,
    "i40e": _I40E,
    "ice": _ICE,
    "ixgbe": _IXGBE,
    "igb": _IGB,
    "igc": _IGB,
    "e1000e": _E1000E,
    "iavf": _IAVF,
    "atlantic": _ATLANTIC,
    "vmxnet3": _VMXNET3,
    "sfc": _SFC,
    "bnxt_en": _BNXT,
    "ena": _ENA,
    "gve": _GVE,
}

STALLED_PERCENT = "outbound_pci_stalled_(rd|wr)"
"""mlx5's share of the last second without PCIe credits, 0 to 100: a level, not a count."""
