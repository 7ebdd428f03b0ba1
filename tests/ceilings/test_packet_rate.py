"""A card's own packet rate, by what its maker published; nothing is made up for the others."""

import pytest

from wirespeed.ceilings.packet_rate import packet_rate_ceiling
from wirespeed.model.ceiling import Direction


@pytest.mark.parametrize("device", [0x1572, 0x1583, 0x158B])
def test_700_series_of_intel_take_37_million_frames_a_second_below_160_bytes(device: int):
    """Intel, document 683749: below 160 bytes, about 37 Mpps for the entire device."""
    short, long = (
        packet_rate_ceiling(0x8086, device, size, Direction.RECEIVE, "lspci") for size in (159, 160)
    )
    assert short is not None
    assert (short.load_pps.low, short.load_pps.high) == (37e6, 37e6)
    assert [item.assumed for item in short.inputs] == [False, True]
    assert long is None


def test_of_connectx_6_the_product_brief_has_a_figure_for_any_length():
    found = packet_rate_ceiling(0x15B3, 0x101B, 1518, Direction.TRANSMIT, "lspci")
    assert found is not None
    assert found.load_pps.low == 215e6


@pytest.mark.parametrize(
    ("vendor", "device"), [(0x15B3, 0x1017), (0x8086, 0x37D0), (0x8086, 0x10FB)]
)
def test_where_no_figure_is_published_there_is_no_ceiling(vendor: int, device: int):
    assert packet_rate_ceiling(vendor, device, 64, Direction.RECEIVE, "lspci") is None
