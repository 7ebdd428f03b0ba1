"""A link of InfiniBand: its data rate, and what surrounds a packet of IP there."""

import pytest

from wirespeed.ceilings.ethernet import ethernet_ceiling, infiniband_ceiling
from wirespeed.model.ceiling import Direction


@pytest.mark.parametrize(
    ("named_gbps", "data_gbps"),
    [(40, 32), (56, 54.545454545), (100, 100), (200, 200)],
)
def test_the_data_rate_is_what_the_encoding_leaves(named_gbps: int, data_gbps: float):
    """QDR is 8b/10b; FDR 4 x 14.0625 Gb/s of 64b/66b; EDR and HDR are called by their data rate."""
    found = infiniband_ceiling(named_gbps * 10**9, 1518, Direction.RECEIVE, "ethtool ib0")
    # 1500 bytes of IP, 28 of headers and 4 of IPoIB, 6 of check sums.
    assert found.load_pps.low == pytest.approx(data_gbps * 1e9 / (8 * 1538))
    assert found.element == "infiniband"


def test_at_one_data_rate_a_packet_takes_as_long_as_on_ethernet():
    """20 + 18 bytes around it there, 38 here."""
    there, here = (
        f(100 * 10**9, 1518, Direction.RECEIVE, "").load_pps.low
        for f in (ethernet_ceiling, infiniband_ceiling)
    )
    assert here == pytest.approx(there, rel=1e-4)


@pytest.mark.parametrize(("named_gbps", "most_gbps"), [(40, 40), (56, 54.545454545), (100, 100)])
def test_a_link_of_40_may_be_fdr10_which_carries_all_of_it(named_gbps: int, most_gbps: float):
    """FDR10: 4 x 10.3125 Gb/s of 64b/66b, 40 Gb/s of data (MSB7890 manual, section 4.1.2)."""
    found = infiniband_ceiling(named_gbps * 10**9, 1518, Direction.RECEIVE, "ethtool ib0")
    assert found.load_pps.high == pytest.approx(most_gbps * 1e9 / (8 * 1538))
