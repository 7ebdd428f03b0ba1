"""Rings, channels, coalescing and offloads as real drivers print them.

From netdev mailing lists and issue trackers: i40e with ethtool 6.7, mlx5 and mlx4 with an ethtool
that used ioctl, tg3, igc, ConnectX-4 Lx with Linux 6.8, a VXLAN device.
"""

from pathlib import Path

import pytest

from wirespeed.facts.coalescing import Coalescing
from wirespeed.facts.offloads import Feature, Offloads
from wirespeed.facts.queues import Queues
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

SAMPLES = Path(__file__).parent / "samples" / "ethtool"


def capture_of(section: str, sample: str) -> Capture:
    text = (SAMPLES / sample).read_text()
    return Capture([Section(section, "eth0", text, "", 0)], complete=True)


def failed(section: str, errors: str, returncode: int = 1) -> Capture:
    return Capture([Section(section, "eth0", "", errors, returncode)], complete=True)


def test_rings_are_read_with_their_maximum():
    queues = Queues.parse(capture_of("ethtool-rings", "rings_i40e_6.7.txt")).of("eth0")
    assert queues.rx_ring_descriptors == Known(256, "ethtool -g eth0")
    assert queues.rx_ring_descriptors_max == Known(4096, "ethtool -g eth0")
    assert queues.tx_ring_descriptors == Known(512, "ethtool -g eth0")
    assert queues.tx_ring_descriptors_max == Known(4096, "ethtool -g eth0")
    assert isinstance(queues.combined_channels, Unreadable)


def test_channels_of_both_kinds_are_read():
    queues = Queues.parse(capture_of("ethtool-channels", "channels_mlx5_ioctl.txt")).of("eth0")
    assert queues.combined_channels == Known(16, "ethtool -l eth0")
    assert queues.combined_channels_max == Known(63, "ethtool -l eth0")
    queues = Queues.parse(capture_of("ethtool-channels", "channels_tg3.txt")).of("eth0")
    assert queues.rx_channels == Known(4, "ethtool -l eth0")
    assert queues.tx_channels == Known(1, "ethtool -l eth0")
    assert queues.tx_channels_max == Known(4, "ethtool -l eth0")


def test_what_a_driver_does_not_support_is_absent():
    # The line end in the message is ethtool's own, up to version 5.
    said = "Cannot get device channel parameters\n: Operation not supported"
    queues = Queues.parse(failed("ethtool-channels", said)).of("eth0")
    assert isinstance(queues.combined_channels, Absent)
    said = "netlink error: Operation not supported"
    flags = Offloads.parse(failed("ethtool-private-flags", said)).of("eth0").private_flags
    assert isinstance(flags, Absent)
    flags = Offloads.parse(failed("ethtool-private-flags", "No private flags defined"))
    assert isinstance(flags.of("eth0").private_flags, Absent)


def test_a_missing_tool_or_permission_is_not_absence():
    missing = failed("ethtool-rings", "timeout: failed to run command 'ethtool'", 127)
    assert Queues.parse(missing).of("eth0").rx_ring_descriptors == Unreadable(
        "ethtool is not installed", "ethtool -g eth0"
    )
    denied = failed("ethtool-rings", "netlink error: Operation not permitted")
    assert isinstance(Queues.parse(denied).of("eth0").rx_ring_descriptors, Unreadable)


@pytest.mark.parametrize("text", ["", "RX: many", "Current hardware settings:\nRX: 99999999999\n"])
def test_nonsense_is_unreadable(text: str):
    capture = Capture([Section("ethtool-rings", "eth0", text, "", 0)], complete=True)
    assert isinstance(Queues.parse(capture).of("eth0").rx_ring_descriptors, Unreadable)


def test_coalescing_of_mlx5_has_both_directions_of_a_line():
    found = Coalescing.parse(capture_of("ethtool-coalescing", "coalescing_connectx4lx.txt"))
    coalescing = found.of("eth0")
    source = "ethtool -c eth0"
    assert coalescing.adaptive_rx == Known(value=True, source=source)
    assert coalescing.adaptive_tx == Known(value=True, source=source)
    assert coalescing.rx_usecs == Known(8, source)
    assert coalescing.rx_frames == Known(128, source)
    assert coalescing.cqe_mode_rx == Known(value=True, source=source)
    assert coalescing.cqe_mode_tx == Known(value=False, source=source)


def test_coalescing_of_igc_has_no_adaptive_mode():
    found = Coalescing.parse(capture_of("ethtool-coalescing", "coalescing_igc.txt")).of("eth0")
    assert isinstance(found.adaptive_rx, Absent)
    assert isinstance(found.cqe_mode_rx, Absent)
    assert found.rx_usecs == Known(3, "ethtool -c eth0")
    assert isinstance(found.tx_frames, Absent)


def test_coalescing_of_an_old_ethtool_is_read():
    found = Coalescing.parse(capture_of("ethtool-coalescing", "coalescing_mlx4_ioctl.txt"))
    assert found.of("eth0").adaptive_rx == Known(value=True, source="ethtool -c eth0")
    assert found.of("eth0").adaptive_tx == Known(value=False, source="ethtool -c eth0")
    assert found.of("eth0").rx_usecs == Known(16, "ethtool -c eth0")


def test_a_feature_that_is_off_though_requested_says_so():
    offloads = Offloads.parse(capture_of("ethtool-features", "features_vxlan.txt")).of("eth0")
    source = "ethtool -k eth0 | grep {}:"
    name = "tx-tcp-segmentation"
    assert offloads.feature(name) == Known(Feature(False, False, True), source.format(name))
    name = "large-receive-offload"
    assert offloads.feature(name) == Known(Feature(False, True, False), source.format(name))
    name = "generic-receive-offload"
    assert offloads.feature(name) == Known(Feature(True, False, True), source.format(name))
    assert isinstance(offloads.feature("tx-udp-segmentation"), Absent)


def test_private_flags_are_read():
    found = Offloads.parse(capture_of("ethtool-private-flags", "private_flags_mlx5.txt"))
    offloads = found.of("eth0")
    source = "ethtool --show-priv-flags eth0 | grep rx_striding_rq"
    assert offloads.private_flag("rx_striding_rq") == Known(value=True, source=source)
    assert isinstance(offloads.private_flags, Known)
    assert offloads.private_flags.value["rx_cqe_compress"] is False
    assert len(offloads.private_flags.value) == 13
