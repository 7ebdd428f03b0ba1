"""Figures as a reader sees them: what is small is not nothing."""

import pytest

from wirespeed.model.units import load_bps_l1
from wirespeed.report import format as fmt


def test_a_slow_load_keeps_its_digits():
    # 990 frames/s of 84 bytes on the wire: 665,280 bit/s.
    assert fmt.gbps(load_bps_l1(990, 64)) == "0.000665"
    assert (fmt.gbps(0), fmt.gbps(99_552e6)) == ("0.000", "99.552")
    # 500 of the 148.81 million frames/s of 100 Gb/s.
    assert fmt.pct(100 * 500 / 148_809_523) == "0.00034"
    assert (fmt.pct(0), fmt.pct(99.5)) == ("0.00", "99.50")


@pytest.mark.parametrize(
    ("ms", "load_pps", "shown"),
    [
        # 100,000 packets/s are 0.01 ms apart, 3,000 are 0.33 ms apart, 100 are 10 ms apart.
        (0.44, 100_000, "0.44"),
        (1234.567, 100_000, "1,234.57"),
        (0.44, 3_000, "0.4"),
        (312.4, 1_000, "312"),
        (312.4, 100, "312"),
    ],
)
def test_an_outage_is_written_to_its_resolution(ms: float, load_pps: int, shown: str):
    assert fmt.milliseconds(ms, load_pps) == shown
