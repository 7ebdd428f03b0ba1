"""The MLRsearch library behind our measurer."""

import itertools
import os
import subprocess
import sys

import pytest
from search_cases import Scripted, cliff, goal

from wirespeed.measure.search.measurer import Purpose, Sample
from wirespeed.measure.search.mlr import search_mlr
from wirespeed.measure.search.simulated import SimulatedDut, SimulatedMeasurer


def test_ndr_and_pdr_are_found_in_one_search():
    result = search_mlr(Scripted(cliff(6e6)), goal(pdr_loss_ratio=0.01))
    assert result.throughput_pps is not None
    assert 5.96e6 < result.throughput_pps <= 6e6
    assert result.pdr_loss_ratio == 0.01
    assert result.pdr_load_pps is not None
    assert 6.02e6 < result.pdr_load_pps <= 6e6 / 0.99


def test_pdr_can_be_left_out():
    result = search_mlr(Scripted(cliff(6e6)), goal(pdr_loss_ratio=None))
    assert (result.pdr_load_pps, result.pdr_loss_ratio) == (None, None)


def test_the_exceed_ratio_reaches_the_library():
    """Every fourth trial of any load loses a frame: forgiven at one half, never at none."""

    def lossy_now_and_then(load: float, seconds: float, number: int) -> int:
        return max(cliff(6e6)(load, seconds, number), int(seconds < 5 and number % 4 == 0))

    forgiving = search_mlr(Scripted(lossy_now_and_then), goal(exceed_ratio=0.5))
    assert forgiving.throughput_pps is not None
    assert forgiving.throughput_pps > 5.9e6
    strict = search_mlr(Scripted(lossy_now_and_then), goal(exceed_ratio=0.0))
    assert strict.throughput_pps is None or strict.throughput_pps < 1e6


def test_the_trials_for_a_load_reach_the_library():
    many = search_mlr(Scripted(cliff(6e6)), goal())
    few = search_mlr(Scripted(cliff(6e6)), goal(trials_per_load=1, exceed_ratio=0.0))
    assert few.trials < many.trials / 2


def test_steps_down_double_while_confirmations_fail():
    measurer = Scripted(lambda load, s, n: cliff(6e6 if s < 5 else 5.8e6)(load, s, n))
    result = search_mlr(measurer, goal(relative_width=0.005))
    confirming = [s.intended_load_pps for s in measurer.samples if s.intended_seconds > 5]
    steps = [1 - b / a for a, b in itertools.pairwise(confirming)]
    assert steps == pytest.approx([0.005 * 2**i for i in range(len(steps))])
    assert result.throughput_pps == pytest.approx(confirming[-1])
    assert result.verdict == "wider than goal"


def test_loads_that_the_tester_cannot_send_are_upper_bounds():
    class Throttled(Scripted):
        def measure(self, load_pps: float, seconds: float, purpose: Purpose) -> Sample:
            self.offered_share = min(1.0, 5e6 / load_pps)
            return super().measure(load_pps, seconds, purpose)

    result = search_mlr(Throttled(lambda *_: 0), goal())
    assert result.throughput_pps == pytest.approx(5e6, rel=0.006)


def test_a_confirmation_that_fails_at_the_lowest_load_ends_the_search():
    measurer = Scripted(lambda load, s, n: cliff(6e6)(load, s, n) if s < 5 else 1)
    result = search_mlr(measurer, goal(min_load_pps=5.9e6))
    assert result.verdict == "nothing passed"
    assert (result.found_load_pps, result.upper_load_pps) == (None, 5.9e6)


def test_a_loss_floor_is_said_when_nothing_was_confirmed():
    dut = SimulatedDut(capacity_pps=6e6, loss_floor=1e-3)
    result = search_mlr(SimulatedMeasurer(dut, seed=1), goal(trials_per_load=3))
    assert result.verdict == "loss floor"
    assert result.loss_floor == pytest.approx(1e-3, rel=0.1)


LOADED = """
import sys
import wirespeed.commands.measure, wirespeed.commands.prove
sys.exit("MLRsearch" in sys.modules)
"""


def test_the_library_is_loaded_only_when_it_searches():
    """It takes longer to load than all that `measure --help` needs."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", LOADED], check=True, timeout=60, env=environment)
