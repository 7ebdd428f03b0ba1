"""Counters that moved: told from what stood still, classed by name, queues added up."""

import pytest

from wirespeed.facts.counters_moved import Counts, Moved, MovedCounters, class_of
from wirespeed.model.capture import parse_capture
from wirespeed.model.observed import Known, Unreadable

NAMES = {
    # be2net and bnx2x, as public outputs have them (isc-projects/ethq, issues 6 and 7).
    "rxq0: rx_drops_no_frags": Counts.LOSS,
    "rx_input_fifo_overflow_drop": Counts.LOSS,
    "eth_red_drops": Counts.LOSS,
    "rx_address_filtered": Counts.TRAFFIC,
    "rx_tcp_checksum_errs": Counts.ERROR,
    "jabber_events": Counts.ERROR,
    "tx_pauseframes": Counts.CONGESTION,
    "be_on_die_temperature": Counts.UNKNOWN,
    "[0]: rx_discards": Counts.LOSS,
    "[0]: tx_exhaustion_events": Counts.CONGESTION,
    "[0]: tpa_aggregations": Counts.TRAFFIC,
    # stmmac's MMC counters.
    "mmc_rx_framecount_gb": Counts.TRAFFIC,
    "mmc_tx_underflow_error": Counts.ERROR,
    "mmc_tx_latecol": Counts.ERROR,
    # mlx5: Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst.
    "rx_out_of_buffer": Counts.LOSS,
    "rx_oversize_pkts_sw_drop": Counts.TOO_LONG,
    "rx_err_lane_0_phy": Counts.TRAFFIC,
    "rx_corrected_bits_phy": Counts.TRAFFIC,
    "rx_cache_full": Counts.TRAFFIC,
    "rx_csum_none": Counts.TRAFFIC,
    "tx_cqe_err": Counts.ERROR,
    "rx_wqe_err": Counts.ERROR,
    "tx0_stopped": Counts.CONGESTION,
    "rx_prio3_pause": Counts.CONGESTION,
    "ch_eq_rearm": Counts.TRAFFIC,
    "rx_64_bytes_phy": Counts.TRAFFIC,
    # ixgbe and igb: *_ethtool.c.
    "fdir_miss": Counts.TRAFFIC,
    "rx_no_dma_resources": Counts.LOSS,
    "rx_no_buffer_count": Counts.TRAFFIC,
    "rx_long_length_errors": Counts.TOO_LONG,
    # virtio_net, netvsc, vmxnet3.
    "rx_queue_0_drops": Counts.LOSS,
    "rx_queue_0_kicks": Counts.TRAFFIC,
    "tx_busy": Counts.CONGESTION,
    "pkts rx OOB": Counts.LOSS,
    "drv dropped tx total": Counts.LOSS,
}


@pytest.mark.parametrize(("name", "counts"), NAMES.items())
def test_a_ledger_classes_a_counter_by_the_words_of_its_name(name: str, counts: Counts):
    assert class_of(name) is counts


def of(first: str, last: str | None) -> object:
    text = (
        "wirespeed-capture 1 case\ncase begin ports -\n"
        "p0 driver=x physfn= port= device=/sys/devices/x\ncase end 0\n"
    )
    for name, body in (("ethtool-S", first), ("ethtool-S-again", last)):
        if body is not None:
            text += f"case begin {name} p0\n{body}\ncase end 0\n"
    return MovedCounters.parse(parse_capture(text + "case done\n", "x")).by_netdev["p0"]


def test_a_ledger_adds_up_the_queues_and_leaves_out_what_stood_still_or_fell():
    first = "NIC statistics:\n     rx0_drops: 1\n     rx1_drops: 1\n     still: 7\n     fell: 9"
    last = "NIC statistics:\n     rx0_drops: 3\n     rx1_drops: 6\n     still: 7\n     fell: 2"
    assert of(first, last) == Known((Moved("rx#_drops", 7, Counts.LOSS),), "ethtool -S p0")


def test_a_ledger_keeps_the_name_of_a_single_queue():
    moved = of("     rx0_drops: 1\n     rx1_drops: 1", "     rx0_drops: 1\n     rx1_drops: 2")
    assert moved == Known((Moved("rx1_drops", 1, Counts.LOSS),), "ethtool -S p0")


@pytest.mark.parametrize("last", [None, "     a: 1\n     b: 2"])
def test_a_ledger_of_one_reading_or_of_two_that_differ_is_not_known(last: str | None):
    assert isinstance(of("     a: 1", last), Unreadable)
