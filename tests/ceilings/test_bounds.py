"""Limits of what a condition costs, against figures that were computed by hand."""

import pytest

from wirespeed.ceilings.bounds import (
    absence_bounds,
    cut_in_two_bound,
    second_port_bounds,
    software_switch_bounds,
    without_link_bounds,
)
from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.model.bound import BoundUnit, Limit
from wirespeed.model.ceiling import Ceiling, Direction, Ledger
from wirespeed.model.observed import Absent, Known

G100 = Known(100 * 10**9, "ethtool p0")


def test_a_full_port_of_small_frames_takes_eleven_cores_of_a_switch_at_the_least():
    # RFC 2544's 148,809,523 frames/s of 64 bytes at 100 Gb/s; 12.97 and 1.88 million a core.
    (bound,) = software_switch_bounds(G100, 64)
    assert (bound.limit, bound.unit) == (Limit.AT_LEAST, BoundUnit.CORES)
    assert bound.value == pytest.approx(11.47, abs=0.01)
    assert "79.2 by one in the kernel" in bound.of
    assert all("12.97" in i.source or i.name != "a core in user space" for i in bound.inputs)


def test_a_ring_of_1024_bridges_seven_microseconds_of_small_frames():
    (bound,) = absence_bounds(Known(1024, "ethtool -g p0"), G100, 64)
    assert (bound.limit, bound.unit) == (Limit.AT_MOST, BoundUnit.SECONDS)
    assert bound.value == pytest.approx(6.88e-6, rel=1e-3)
    assert "148,810 frames" in bound.of


def test_a_packet_of_1550_bytes_cut_in_two_takes_3_and_a_half_percent_more_of_the_wire():
    # 1550 + 38 whole; the second fragment brings 38 and an IPv4 header of 20.
    bound = cut_in_two_bound(1550, "ip link")
    assert (bound.limit, bound.unit) == (Limit.AT_LEAST, BoundUnit.SHARE)
    assert bound.value == pytest.approx(58 / (1550 + 38 + 58))


def test_what_is_not_known_gives_no_bound():
    assert software_switch_bounds(None, 64) == ()
    assert second_port_bounds(None, 64) == ()
    assert absence_bounds(None, G100, 64) == ()
    assert absence_bounds(Absent("ethtool -g p0"), G100, 64) == ()
    assert absence_bounds(Known(1024, "ethtool -g p0"), Absent("ethtool p0"), 64) == ()
    assert without_link_bounds(Ledger(port="p0", frame_bytes=64, ceilings=())) == ()


def ledger(*ceilings: Ceiling) -> Ledger:
    return Ledger(port="p0", frame_bytes=1518, ceilings=ceilings)


def test_a_port_without_a_link_costs_no_more_than_its_slot_lets_through():
    both = [ethernet_ceiling(10**11, 1518, d, "ethtool p0", assumed=True) for d in Direction]
    slot = [c.model_copy(update={"element": "pcie a", "load_pps": half(c)}) for c in both]
    (bound,) = without_link_bounds(ledger(*both, *slot))
    assert bound.value == pytest.approx(8_127_438 / 2)
    assert "pcie a" in bound.of
    (bound,) = without_link_bounds(ledger(*both))
    assert bound.value == pytest.approx(8_127_438, abs=1)
    assert without_link_bounds(ledger(*slot)) == ()


def half(ceiling: Ceiling):
    band = ceiling.load_pps
    return band.model_copy(update={"low": band.low / 2, "high": band.high / 2})
