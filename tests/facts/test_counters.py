"""`ethtool -S` and the kernel's own statistics, read twice.

Where the samples are from: statistics_mlx5 from a published reading of an mlx5 card, rows that no
place has and rings shortened; statistics_igb from the tests of another parser, with a few counts
put in.
"""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.facts.counters import Counters, Delta, Place
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

SAMPLES = Path(__file__).parent / "samples/ethtool"
MLX5 = (SAMPLES / "statistics_mlx5.txt").read_text()
IGB = (SAMPLES / "statistics_igb.txt").read_text()
NETDEV = (
    "uptime {}\nrx_packets 100\ntx_packets 50\ntx_dropped 1\nrx_missed_errors 4\nrx_crc_errors 2\n"
)


def counters(
    driver: str, first: str, last: str, *, times: tuple[str, str] = ("10.00", "12.50")
) -> Counters:
    port = f"ens1 driver={driver} physfn= port=p0 device=/sys/devices/pci0000:00/0000:01:00.0"
    return Counters.parse(
        Capture(
            [
                Section("ports", "", port, "", 0),
                Section("statistics", "ens1", NETDEV.format(times[0]), "", 0),
                Section("ethtool-S", "ens1", first, "", 0),
                Section("statistics-again", "ens1", NETDEV.format(times[1]), "", 0),
                Section("ethtool-S-again", "ens1", last, "", 0),
            ],
            complete=True,
        )
    )


def test_a_delta_has_its_count_its_seconds_and_its_counters():
    last = MLX5.replace("rx_discards_phy: 0", "rx_discards_phy: 250")
    found = counters("mlx5_core", MLX5, last).delta("ens1", Place.PORT_BUFFER)
    assert found == Known(
        Delta(250, 2.5, ("rx_discards_phy",), ("rx_discards_phy",)), "ethtool -S ens1"
    )
    assert isinstance(found, Known)
    assert found.value.per_second == 100


GVE = """\
NIC statistics:
     rx_packets: 482
     rx_dropped: 0
     rx_skb_alloc_fail: 2
     rx_buf_alloc_fail: 1
     rx_queue_drop_cnt[0]: 0
     rx_no_buffers_posted[0]: 0
     rx_no_buffers_posted[1]: 0
"""
"""Names and form: https://github.com/newrushbolt/go-ethtool-metrics,
testdata/google/gve/00_arm64_c4a/src/statistics; failed allocations put in."""


def test_a_count_that_the_device_reports_only_when_told_to_is_no_count():
    """The device's own counters read 0 while `report-stats` is off (gve_ethtool.c)."""
    found = counters("gve", GVE, GVE.replace("rx_buf_alloc_fail: 1", "rx_buf_alloc_fail: 8"))
    assert isinstance(found.delta("ens1", Place.NO_RECEIVE_BUFFER), Absent)
    assert found.total("ens1", Place.NO_MEMORY) == Known(10, "ethtool -S ens1")


def test_a_delta_names_those_of_its_counters_that_moved():
    found = counters("igb", IGB, IGB.replace("rx_queue_1_drops: 3", "rx_queue_1_drops: 4"))
    delta = found.delta("ens1", Place.NO_RECEIVE_BUFFER)
    assert isinstance(delta, Known)
    assert delta.value.counters == ("rx_queue_0_drops", "rx_queue_1_drops")
    assert delta.value.grown == ("rx_queue_1_drops",)


def test_a_broken_frame_is_counted_once_although_two_counters_have_it():
    found = counters("mlx5_core", MLX5, MLX5)
    assert found.total("ens1", Place.PHYSICAL) == Known(386, "ethtool -S ens1")
    assert found.total("ens1", Place.RECEIVED) == Known(15005729, "ethtool -S ens1")
    assert found.total("ens1", Place.STEERING) == Known(194, "ethtool -S ens1")
    assert found.total("ens1", Place.PAUSE_SENT) == Known(2, "ethtool -S ens1")


def test_pauses_of_priorities_are_added_and_stand_for_the_port():
    paused = MLX5 + "     rx_prio3_pause: 70\n     rx_prio4_pause: 5\n"
    found = counters("mlx5_core", paused, paused).total("ens1", Place.PAUSE_RECEIVED)
    assert found == Known(75, "ethtool -S ens1")


def test_queues_are_added_up():
    found = counters("igb", IGB, IGB)
    assert found.total("ens1", Place.NO_RECEIVE_BUFFER) == Known(5, "ethtool -S ens1")
    assert found.total("ens1", Place.PORT_BUFFER) == Known(7, "ethtool -S ens1")
    assert found.total("ens1", Place.NO_MEMORY) == Known(1, "ethtool -S ens1")


def test_a_counter_that_went_down_was_reset_and_gives_no_negative_count():
    found = counters(
        "mlx5_core", MLX5, MLX5.replace("rx_crc_errors_phy: 386", "rx_crc_errors_phy: 1")
    )
    delta = found.delta("ens1", Place.PHYSICAL)
    assert isinstance(delta, Unreadable)
    assert "reset" in delta.reason
    assert found.total("ens1", Place.PHYSICAL) == Known(1, "ethtool -S ens1")


def test_one_of_two_counters_that_went_down_spoils_the_sum():
    first = MLX5.replace("tx_discards_phy: 0", "tx_discards_phy: 5")
    last = MLX5.replace("tx_queue_dropped: 0", "tx_queue_dropped: 9")
    found = counters("mlx5_core", first, last).delta("ens1", Place.TRANSMIT)
    assert isinstance(found, Unreadable)


def test_two_readings_within_one_tick_of_the_clock_have_no_delta():
    found = counters("mlx5_core", MLX5, MLX5, times=("10.00", "10.00"))
    assert isinstance(found.delta("ens1", Place.PORT_BUFFER), Unreadable)


def test_a_driver_without_rows_has_the_kernels_own_counters():
    found = counters("virtio_net", "NIC statistics:\n     rx_drops: 3\n", "")
    source = "ip -s -s link show dev ens1"
    assert found.total("ens1", Place.NO_RECEIVE_BUFFER) == Known(4, source)
    assert found.delta("ens1", Place.SENT) == Known(Delta(0, 2.5, ("tx_packets",), ()), source)
    assert isinstance(found.delta("ens1", Place.PORT_BUFFER), Absent)


def test_without_ethtool_a_drivers_own_counters_are_unreadable_and_the_shared_ones_known():
    port = "ens1 driver=mlx5_core physfn= port=p0 device=/sys/devices/pci0000:00/0000:01:00.0"
    sections = [Section("ports", "", port, "", 0)]
    for again, uptime in (("", "10.00"), ("-again", "11.00")):
        sections += [
            Section(f"statistics{again}", "ens1", NETDEV.format(uptime), "", 0),
            Section(f"ethtool-S{again}", "ens1", "", "timeout: failed to run command", 127),
        ]
    found = Counters.parse(Capture(sections, complete=True))
    assert found.delta("ens1", Place.PORT_BUFFER) == Unreadable(
        "ethtool is not installed", "ethtool -S ens1"
    )
    assert isinstance(found.delta("ens1", Place.RECEIVED), Known)


def test_a_virtual_function_without_the_ports_counters_has_none():
    own = "NIC statistics:\n     rx_packets: 12\n     rx_out_of_buffer: 0\n"
    found = counters("mlx5_core", own, own)
    assert isinstance(found.total("ens1", Place.PORT_BUFFER), Absent)
    assert found.total("ens1", Place.RECEIVED) == Known(100, "ip -s -s link show dev ens1")


def test_the_worse_stall_is_given_and_is_no_count():
    last = MLX5.replace("outbound_pci_stalled_wr: 0", "outbound_pci_stalled_wr: 41")
    found = counters("mlx5_core", MLX5, last).by_netdev["ens1"]
    assert found.stalled_percent == Known(41, "ethtool -S ens1")


def test_a_port_without_a_netdev_has_no_counters():
    assert isinstance(counters("ice", "", "").delta(None, Place.PORT_BUFFER), Absent)


@pytest.mark.parametrize("driver", ["mlx5_core", "ice", "virtio_net"])
@given(output=st.text(), returncode=st.sampled_from([0, 1, 127, None]))
def test_no_text_makes_the_parser_raise(driver: str, output: str, returncode: int | None):
    port = f"ens1 driver={driver} physfn= port= device=/sys/devices/pci0000:00/0000:01:00.0"
    names = ("statistics", "ethtool-S", "statistics-again", "ethtool-S-again")
    sections = [Section(name, "ens1", output, "", returncode) for name in names]
    Counters.parse(Capture([Section("ports", "", port, "", 0), *sections], complete=False))


def test_a_first_reading_that_failed_gives_its_reason():
    port = "ens1 driver=mlx5_core physfn= port=p0 device=/sys/devices/pci0000:00/0000:01:00.0"
    found = Counters.parse(
        Capture(
            [
                Section("ports", "", port, "", 0),
                Section("statistics", "ens1", NETDEV.format("1.00"), "", 0),
                Section("ethtool-S", "ens1", "", "", 124),
                Section("statistics-again", "ens1", NETDEV.format("2.00"), "", 0),
                Section("ethtool-S-again", "ens1", MLX5, "", 0),
            ],
            complete=True,
        )
    )
    delta = found.delta("ens1", Place.PORT_BUFFER)
    assert delta == Unreadable("it did not end in time", "ethtool -S ens1")
    assert found.total("ens1", Place.PORT_BUFFER) == Known(0, "ethtool -S ens1")


def test_ethtool_goes_first_as_it_makes_some_drivers_ask_their_card():
    text = Counters.script.replace("all_counters ''", "")
    stubs = "run() { echo $1 $2; }; show() { echo $1 $2; }; port_netdevs=eth0\n"
    done = subprocess.run(
        ["/bin/sh"], input=f"{stubs}{text}\nall_counters ''\n{Counters.script_again}",
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "ethtool-S eth0", "statistics eth0", "ethtool-S-again eth0", "statistics-again eth0",
    ]  # fmt: skip
