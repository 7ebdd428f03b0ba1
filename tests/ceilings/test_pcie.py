from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.ceilings.devices import MLX5_DPDK, MLX5_DPDK_MPRQ, MLX5_KERNEL, DeviceModel
from wirespeed.ceilings.pcie import DATA_LINK_SHARE, PcieLink, pcie_ceiling
from wirespeed.model.ceiling import Band, Direction

GENERATIONS = (2.5, 5.0, 8.0, 16.0, 32.0, 64.0)
SIZES = (128, 256, 512, 1024, 2048, 4096)
LANES = (1, 2, 4, 8, 16)
links = st.builds(
    PcieLink,
    gt_per_s=st.sampled_from(GENERATIONS),
    lanes=st.sampled_from(LANES),
    max_payload_bytes=st.sampled_from((None, *SIZES)),
    max_read_request_bytes=st.sampled_from((None, *SIZES)),
)
frames = st.integers(64, 9600)
devices = st.sampled_from((MLX5_KERNEL, MLX5_DPDK, MLX5_DPDK_MPRQ))
directions = st.sampled_from(tuple(Direction))


def band(
    link: PcieLink,
    frame_bytes: int,
    device: DeviceModel = MLX5_DPDK_MPRQ,
    direction: Direction = Direction.RECEIVE,
    both: bool = False,
) -> Band:
    return pcie_ceiling(
        link, frame_bytes, direction, "pcie", "test", device=device, bidirectional=both
    ).load_pps


@pytest.mark.parametrize(
    ("gt_per_s", "lanes", "gbps"),
    [
        # PCI-SIG's table of what each generation carries after encoding, in Gb/s.
        (2.5, 1, 2.0),
        (5.0, 8, 32.0),
        (8.0, 8, 63.015),
        (16.0, 4, 63.015),
        (16.0, 8, 126.031),
        (32.0, 16, 504.123),
        # 1b/1b: PCIe 6.1 section 1.2, table 1-1, and PCIE_SPEED2MBS_ENC of Linux.
        (64.0, 16, 1024.0),
    ],
)
def test_raw_bits_are_those_of_the_generation(gt_per_s: float, lanes: int, gbps: float):
    assert PcieLink(gt_per_s, lanes).raw_bps / 1e9 == pytest.approx(gbps, abs=0.001)


def test_the_data_link_layer_takes_what_the_paper_says():
    # Neugebauer et al. 2018, section 3: 62.96 Gb/s leave 57.88 at 8 GT/s x8.
    left = 62.96 * (1 - DATA_LINK_SHARE)
    assert left == pytest.approx(57.88, abs=0.08)


def test_headers_only_is_what_a_count_by_hand_gives():
    # x8 at 8 GT/s, payload 256, a frame of 1518: 1514 bytes in 6 writes of 20 header bytes.
    expected = 8 * 8e9 * 128 / 130 / 8 / (1514 + 6 * 20)
    assert band(PcieLink(8.0, 8, 256, 512), 1518).high == pytest.approx(expected)


def test_the_whole_model_is_what_a_count_by_hand_gives():
    # Received by the kernel: 6 writes with headers of 24, a completion of 64 with its own, and one
    # request for four descriptors.
    up = 1514 + 6 * 24 + 64 + 24 + 24 / 4
    expected = 8 * 8e9 * 128 / 130 * (1 - 16 / 203 - 4 / 1538) / 8 / up
    found = band(PcieLink(8.0, 8, 256, 512), 1518, MLX5_KERNEL)
    assert found.low == pytest.approx(expected)


def test_packets_in_flits_have_no_framing_of_their_own():
    """A flit of 256 bytes has 236 of packets (PCIe Base 6.0 section 4.2.3), without LCRC."""
    link = PcieLink(64.0, 16, 256, 512)
    room = 64e9 * 16 / 8 * 236 / 256
    assert band(link, 1518).high == pytest.approx(room / (1514 + 6 * 12))
    # 60 bytes and 12 of header. With the framing of 32 GT/s it would be 80, which is too many.
    assert band(link, 64).high == pytest.approx(room / 72)
    whole = 1514 + 6 * 16 + 64 + 16 + 16 / 4
    assert band(link, 1518, MLX5_KERNEL).low == pytest.approx(room / whole)


def test_a_segment_that_the_card_cuts_may_leave_its_headers_out():
    link = PcieLink(16.0, 4, 256, 512)
    expected = link.raw_bps / 8 / (1448 + 1448 / 256 * 20)
    assert band(link, 1518, MLX5_KERNEL, Direction.TRANSMIT).high == pytest.approx(expected)
    assert band(link, 64, MLX5_KERNEL).high == pytest.approx(link.raw_bps / 8 / 65.0, rel=0.25)


@given(links, frames, devices, directions, st.booleans())
def test_the_whole_model_never_exceeds_headers_only(
    link: PcieLink, frame_bytes: int, device: DeviceModel, direction: Direction, both: bool
):
    found = band(link, frame_bytes, device, direction, both)
    assert 0 < found.low <= found.high


@given(links, frames, devices, directions, st.booleans())
def test_twice_the_lanes_carry_twice_as_much(
    link: PcieLink, frame_bytes: int, device: DeviceModel, direction: Direction, both: bool
):
    twice = PcieLink(
        link.gt_per_s, 2 * link.lanes, link.max_payload_bytes, link.max_read_request_bytes
    )
    one, two = (band(x, frame_bytes, device, direction, both) for x in (link, twice))
    assert (two.low, two.high) == pytest.approx((2 * one.low, 2 * one.high))


@given(st.sampled_from(LANES), st.sampled_from(SIZES), frames, devices, directions, st.booleans())
def test_a_faster_generation_carries_more(
    lanes: int, size: int, frame_bytes: int, device: DeviceModel, direction: Direction, both: bool
):
    found = [
        band(PcieLink(speed_gt, lanes, size, 512), frame_bytes, device, direction, both)
        for speed_gt in GENERATIONS
    ]
    assert [b.low for b in found] == sorted(b.low for b in found)
    assert [b.high for b in found] == sorted(b.high for b in found)


@given(links, frames, devices, directions, st.booleans())
def test_larger_payloads_never_carry_less(
    link: PcieLink, frame_bytes: int, device: DeviceModel, direction: Direction, both: bool
):
    found = [
        band(
            PcieLink(link.gt_per_s, link.lanes, size, link.max_read_request_bytes),
            frame_bytes,
            device,
            direction,
            both,
        )
        for size in SIZES
    ]
    for smaller, larger in pairwise(found):
        assert larger.low >= smaller.low * (1 - 1e-9)
        assert larger.high >= smaller.high * (1 - 1e-9)


@given(links, frames, devices, directions)
def test_both_directions_at_once_never_carry_more_than_one_alone(
    link: PcieLink, frame_bytes: int, device: DeviceModel, direction: Direction
):
    alone, shared = (band(link, frame_bytes, device, direction, both) for both in (False, True))
    assert shared.low <= alone.low
    assert shared.high <= alone.high


@given(links, frames, devices, directions, st.booleans())
def test_an_unknown_size_gives_a_band_around_every_known_one(
    link: PcieLink, frame_bytes: int, device: DeviceModel, direction: Direction, both: bool
):
    unknown = band(PcieLink(link.gt_per_s, link.lanes), frame_bytes, device, direction, both)
    for size in SIZES:
        known = band(PcieLink(link.gt_per_s, link.lanes, size, 512), frame_bytes, device,
                     direction, both)  # fmt: skip
        assert unknown.low <= known.low * (1 + 1e-9)
        assert known.high <= unknown.high * (1 + 1e-9)


def test_small_frames_that_are_inlined_need_fewer_requests_than_those_that_are_not():
    # The last frame that fits in a descriptor, and the first that does not.
    link = PcieLink(8.0, 8, 256, 512)
    fits, does_not = (
        band(link, frame, MLX5_DPDK, Direction.TRANSMIT, True).low for frame in (272, 273)
    )
    assert fits > does_not


@pytest.mark.parametrize(("device", "mpps"), [(MLX5_DPDK, 141.3), (MLX5_DPDK_MPRQ, 149.6)])
def test_multi_packet_receive_is_off_as_dpdk_comes(device: DeviceModel, mpps: float):
    """60 bytes, a header of 24, a completion of 9 + 24 x 9/64; a read of 24 for 4 frames or for 64.

    102.4 and 96.75 bytes upwards, of 126.03 Gb/s less 8.14 % (doc.dpdk.org, mlx5: mprq_en, 0).
    """
    link = PcieLink(8.0, 16, max_payload_bytes=256, max_read_request_bytes=512)
    assert band(link, 64, device).low / 1e6 == pytest.approx(mpps, abs=0.2)
