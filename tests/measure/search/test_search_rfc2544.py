"""The plain binary search."""

import pytest
from search_cases import CEILING_PPS, Scripted, cliff, goal

from wirespeed.measure.search.rfc2544 import search_rfc2544
from wirespeed.measure.search.simulated import SimulatedDut, SimulatedMeasurer


def test_it_starts_at_the_ceiling_and_halves_the_bracket():
    measurer = Scripted(cliff(6e6))
    result = search_rfc2544(measurer, goal(relative_width=0.01))
    loads = [s.intended_load_pps for s in measurer.samples]
    assert loads[0] == CEILING_PPS
    assert loads[1] == pytest.approx((CEILING_PPS + 10e3) / 2)
    assert measurer.purposes == ["search"] * (len(loads) - 1) + ["confirm"]
    assert loads[-1] == max(load for load in loads if load <= 6e6)
    assert result.throughput_pps == pytest.approx(6e6, rel=0.01)


def test_after_a_failed_confirmation_only_lower_loads_are_tried():
    measurer = Scripted(lambda load, s, n: cliff(6e6 if s < 5 else 4e6)(load, s, n))
    result = search_rfc2544(measurer, goal(relative_width=0.2))
    first_confirm = measurer.purposes.index("confirm")
    failed = measurer.samples[first_confirm].intended_load_pps
    after = measurer.samples[first_confirm + 1 :]
    assert after
    assert all(s.intended_load_pps < failed for s in after)
    assert result.throughput_pps is not None
    assert result.throughput_pps <= 4e6


def test_a_loss_floor_ends_the_search_within_a_few_halvings():
    measurer = SimulatedMeasurer(SimulatedDut(capacity_pps=6e6, loss_floor=1e-4), seed=1)
    result = search_rfc2544(measurer, goal())
    assert result.verdict == "loss floor"
    assert result.loss_floor == pytest.approx(1e-4, rel=0.1)
    assert result.throughput_pps is None
    assert result.trials <= 8
