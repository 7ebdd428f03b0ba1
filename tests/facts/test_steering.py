"""RSS tables of ixgbe, virtio and a card with a symmetric hash; XPS and RPS masks.

From patches on the netdev list and this kernel's own answers.
"""

from pathlib import Path

import pytest

from wirespeed.facts.steering import Steering
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

SAMPLES = Path(__file__).parent / "samples" / "ethtool"
QUEUES = "/sys/class/net/eth0/queues"


def steering_of(sample: str) -> Capture:
    text = (SAMPLES / sample).read_text()
    return Capture([Section("ethtool-rss", "eth0", text, "", 0)], complete=True)


def test_entries_of_the_table_are_counted_by_queue():
    steering = Steering.parse(steering_of("rss_ixgbe.txt")).of("eth0")
    assert steering.rx_rings == Known(12, "ethtool -x eth0")
    assert steering.rss_entries == Known(dict.fromkeys(range(12), 2), "ethtool -x eth0")
    assert steering.has_hash_key == Known(value=True, source="ethtool -x eth0")
    assert steering.hash_function == Known("toeplitz", "ethtool -x eth0")


def test_a_card_without_a_table_has_none():
    steering = Steering.parse(steering_of("rss_virtio_none.txt")).of("eth0")
    assert isinstance(steering.rss_entries, Absent)
    assert steering.rx_rings == Known(1, "ethtool -x eth0")
    assert steering.has_hash_key == Known(value=False, source="ethtool -x eth0")


def test_an_input_transformation_is_no_hash_function():
    steering = Steering.parse(steering_of("rss_symmetric.txt")).of("eth0")
    assert steering.hash_function == Known("xor", "ethtool -x eth0")
    assert steering.rss_entries == Known({0: 7, 1: 1}, "ethtool -x eth0")


def test_masks_are_read_and_a_queue_without_xps_is_kept():
    output = (
        f"{QUEUES}/tx-1/xps_cpus:00,00000104\n{QUEUES}/rx-0/rps_cpus:0\n"
        f"{QUEUES}/rx-0/rps_flow_cnt:2048\n/sys/class/net/eth1/queues/tx-0/xps_cpus:1"
    )
    errors = f"grep: {QUEUES}/tx-0/xps_cpus: No such file or directory"
    section = Section("queues", "", output, errors, 123)
    steering = Steering.parse(Capture([section], complete=True)).of("eth0")
    assert steering.xps_cpus == {
        0: Absent(f"cat {QUEUES}/tx-0/xps_cpus"),
        1: Known(frozenset({2, 8}), f"cat {QUEUES}/tx-1/xps_cpus"),
    }
    assert steering.rps_cpus == {0: Known(frozenset(), f"cat {QUEUES}/rx-0/rps_cpus")}
    assert steering.rps_flow_count == {0: Known(2048, f"cat {QUEUES}/rx-0/rps_flow_cnt")}


def test_nothing_asked_is_unreadable():
    steering = Steering.parse(Capture([], complete=True)).of("eth0")
    assert isinstance(steering.rss_entries, Unreadable)
    assert steering.xps_cpus == {}


def test_a_hash_key_that_came_along_is_not_kept():
    text = (SAMPLES / "rss_ixgbe.txt").read_text().replace("not read", "6d:5a:56:da:25:5b")
    section = Section("ethtool-rss", "eth0", text, "", 0)
    steering = Steering.parse(Capture([section], complete=True)).of("eth0")
    assert steering.has_hash_key == Known(value=True, source="ethtool -x eth0")
    assert steering.hash_function == Known("toeplitz", "ethtool -x eth0")


HEADER = "UDP over IPV4 flows use these fields for computing Hash flow key:\n"
PORTS = "L4 bytes 0 & 1 [TCP/UDP src port]\nL4 bytes 2 & 3 [TCP/UDP dst port]\n"


@pytest.mark.parametrize(
    ("fields", "expected"), [("IP SA\nIP DA\n", False), (f"IP SA\nIP DA\n{PORTS}", True)]
)
def test_fields_of_the_udp_hash_are_read(fields: str, expected: bool):
    section = Section("ethtool-udp-hash", "eth0", HEADER + fields, "", 0)
    steering = Steering.parse(Capture([section], complete=True)).of("eth0")
    source = "ethtool -n eth0 rx-flow-hash udp4"
    assert steering.hashes_udp_ports == Known(value=expected, source=source)


def test_a_card_that_does_not_say_what_it_hashes():
    section = Section("ethtool-udp-hash", "eth0", f"{HEADER}None\n", "", 0)
    steering = Steering.parse(Capture([section], complete=True)).of("eth0")
    assert isinstance(steering.hashes_udp_ports, Absent)


@pytest.mark.parametrize(("text", "expected"), [("0", False), ("1", True), ("2", True)])
def test_queues_that_kernel_threads_poll(text: str, expected: bool):
    section = Section("queues", "", f"/sys/class/net/eth0/threaded:{text}", "", 0)
    steering = Steering.parse(Capture([section], complete=True)).of("eth0")
    assert steering.is_napi_threaded == Known(expected, "cat /sys/class/net/eth0/threaded")
