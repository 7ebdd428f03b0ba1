"""The parts of `make bench` that decide and write; nothing is timed here."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import validate

import bench
import bench_core
import bench_ovs
from bench_figures import Figure, Result, Unmeasured, as_json, missed
from bench_goals import GOALS, Goal
from bench_ovs import ceiling
from bench_page import markdown
from bench_pairs import MAX_VOID, PAIRS, DisturbedError, pairs, within
from bench_programs import eal_side
from wirespeed.measure.bench.testbed import BedTrial
from wirespeed.measure.bench.tester_protocol import ResultReply
from wirespeed.model import trial as trial_types
from wirespeed.model.trial import DutReading, PortCounters, StreamCounts

SCHEMA = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {
            "ratio_median": {"type": "number"},
            "ratio_min": {"type": "number"},
            "ratio_max": {"type": "number"},
            "n": {"type": "integer", "minimum": 5},
            "goal": {"type": "number"},
            "better": {"enum": ["higher", "lower"]},
        },
        "required": ["ratio_median", "ratio_min", "ratio_max", "n", "goal", "better"],
        "additionalProperties": False,
    },
}
PROMISED = {
    "generate_vs_txonly": (2.3, "higher"),
    "generate_vs_flowgen": (2.3, "higher"),
    "ring_cycles_avx512": (0.4, "lower"),
    "ring_cycles_portable": (0.6, "lower"),
    "forwarded_vs_flowgen": (1.0, "higher"),
    "cost_vs_flowgen": (1.0, "lower"),
    "direct_vs_flowgen": (3.0, "higher"),
    "direct_cost_vs_flowgen": (1 / 3, "lower"),
    "ovs_vxlan_forwarded": (0.3, "higher"),
    "ovs_vxlan_cycles": (3.5, "lower"),
    "ovs_cycles": (3.0, "lower"),
    "million_flows": (1.5, "lower"),
    "second_queue": (1.03, "lower"),
    "sixteen_queues": (1.1, "lower"),
    "two_cores": (1.9, "higher"),
    "search_trials": (1 / 3, "lower"),
    "search_error": (1.0, "lower"),
    "first_trial": (4.0, "lower"),
    "tester_memory": (1.0, "lower"),
    "doctor_cpu": (4.0, "lower"),
    "doctor_wall": (4.0, "lower"),
    "doctor_200_hosts": (10.0, "lower"),
    "doctor_vs_ansible": (1.0, "lower"),
    "capture_20_hosts": (1.0, "lower"),
    "plan_2_hosts": (15.0, "lower"),
    "plan_1000_hosts": (20.0, "lower"),
    "plan_1000_memory": (5.0, "lower"),
    "plan_10000_growth": (11.0, "lower"),
    "plan_10000_wall": (1.0, "lower"),
    "fleet_10000_growth": (11.0, "lower"),
    "fleet_10000_cpu": (1.0, "lower"),
    "fleet_10000_wall": (1.0, "lower"),
    "fleet_10000_memory": (1.0, "lower"),
    "fleet_10000_page": (1.0, "lower"),
    "apply_round_trips": (1.0, "lower"),
}
"""What is promised of speed."""


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench_pairs.sleep_s", lambda _: None)


def figure(goal: Goal, *ratios: float, misses: tuple[str, ...] = ()) -> Figure:
    """Make one with these ratios: against 2, so that they are not what was measured."""
    ours = tuple(2 * ratio for ratio in ratios)
    return Figure(name=goal.name, ours=ours, beside=(2.0,) * len(ratios), misses=misses)


def kept(*, but: str = "") -> list[Result]:
    """All promises kept by a tenth, except for one that is missed by a tenth."""
    return [
        figure(
            goal,
            *[goal.goal * (1.1 if (goal.better == "higher") == (goal.name != but) else 0.9)] * 5,
        )
        for goal in GOALS
    ]


def test_goals_are_those_that_were_promised() -> None:
    assert {goal.name: (goal.goal, goal.better) for goal in GOALS} == PROMISED


def test_every_figure_is_held_against_a_yardstick_of_the_same_run() -> None:
    """A count is the same on any machine; a time or a size is not."""
    assert [goal.name for goal in GOALS if goal.beside == "budget"] == []
    assert [goal.name for goal in GOALS if goal.unit == "round trips"] == ["apply_round_trips"]


def test_two_cores_are_not_measured_where_one_of_them_is_also_that_of_the_measuring_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bench_core.usable_cpus", lambda: (0, 1))
    side = eal_side(Path("/none"), "bench0", bench_core.RING, 0, 1)
    result = bench_core._two_cores(side, side)
    assert isinstance(result, Unmeasured) and result.excused
    assert result.why == "this machine has 2 CPUs, 3 are needed"


def test_ratios_are_taken_pair_by_pair_and_not_of_medians() -> None:
    shown = Figure(name="first_trial", ours=(1, 4, 9), beside=(1, 2, 9))
    assert shown.ratios == (1, 2, 1)


def test_median_and_extremes_go_into_the_json() -> None:
    (goal,) = [g for g in GOALS if g.name == "first_trial"]
    row = as_json([figure(goal, 0.5, 0.1, 0.4, 0.2, 0.9)])["first_trial"]
    assert (row["ratio_median"], row["ratio_min"], row["ratio_max"]) == (0.4, 0.1, 0.9)
    assert (row["n"], row["goal"], row["better"]) == (5, 4.0, "lower")


def test_the_json_has_every_goal_and_nothing_else_in_its_rows() -> None:
    written = json.loads(json.dumps(as_json(kept())))
    validate(written, SCHEMA)
    assert set(written) == set(PROMISED)


def test_nothing_to_divide_by_is_an_error_and_not_infinity() -> None:
    with pytest.raises(ValueError, match="nothing to divide by"):
        _ = Figure(name="first_trial", ours=(1.0,), beside=(0.0,)).ratios


def test_kept_promises_are_not_missed() -> None:
    assert missed(kept()) == []


@pytest.mark.parametrize("name", PROMISED)
def test_a_missed_goal_is_named_whichever_way_is_better(name: str) -> None:
    (only,) = missed(kept(but=name))
    assert only.startswith(f"{name}: ")


def test_a_goal_met_exactly_is_met() -> None:
    assert missed([figure(goal, *[goal.goal] * 5) for goal in GOALS]) == []


def test_too_few_pairs_are_a_miss() -> None:
    results = [r for r in kept() if r.name != GOALS[0].name] + [figure(GOALS[0], 9.0)]
    assert missed(results) == ["generate_vs_txonly: 1 pairs, at least 5"]


def test_a_part_of_a_promise_that_the_ratio_hides_is_a_miss() -> None:
    others = [r for r in kept() if r.name != "search_error"]
    (goal,) = [g for g in GOALS if g.name == "search_error"]
    assert missed([*others, figure(goal, *[0.1] * 5, misses=("cliff: larger",))]) == [
        "search_error: cliff: larger"
    ]


def test_what_was_not_measured_is_a_miss_unless_it_is_excused() -> None:
    others = [r for r in kept() if r.name != "ring_cycles_avx512"]
    absent = Unmeasured(name="ring_cycles_avx512", why="no AVX-512", excused=True)
    assert missed([*others, absent]) == []
    assert missed([*others, absent.model_copy(update={"excused": False})])
    assert missed(others) == ["ring_cycles_avx512: not measured"]
    assert "ring_cycles_avx512" not in as_json([*others, absent])


def test_disturbed_pairs_are_made_again_and_counted() -> None:
    samples: Iterator[float | None] = iter([1.0, None, *[2.0] * 20])

    def ours() -> float:
        sample = next(samples)
        if sample is None:
            raise DisturbedError("stalled")
        return sample

    made = within("first_trial", ours, 4.0)
    assert isinstance(made, Figure)
    assert (made.void, made.ours) == (1, (1.0, *[2.0] * (PAIRS - 1)))


def test_pairs_alternate() -> None:
    order: list[str] = []

    def sample(name: str) -> float:
        order.append(name)
        return 1.0

    pairs("first_trial", lambda: sample("a"), lambda: sample("b"))
    assert order == ["a", "b"] * PAIRS


def test_a_machine_that_disturbs_every_pair_ends_in_a_reason() -> None:
    def ours() -> float:
        raise DisturbedError("stalled for 20 ms")

    made = within("first_trial", ours, 1.0)
    assert isinstance(made, Unmeasured)
    assert made.why == f"{MAX_VOID + 1} disturbed pairs; the last: stalled for 20 ms"
    assert not made.excused


def test_the_page_shows_every_goal_with_its_figures_and_what_was_missed() -> None:
    page = markdown(kept(but="million_flows"), {"CPU": "a fast one"})
    for goal in GOALS:
        assert f"## {goal.name}\n" in page
    (row,) = [line for line in page.splitlines() if line.startswith("| [million_flows]")]
    assert row.endswith("| 1.650 (1.650 to 1.650) | 5 | <= 1.5 | **no** |")
    assert page.count("**no**") == 1
    assert "| CPU | a fast one |" in page


def test_every_part_that_fails_leaves_its_goals_as_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> Iterator[Result]:
        yield figure(GOALS[0], *[9.0] * 5)
        raise ValueError("no such line")

    monkeypatch.setattr(bench, "PARTS", (broken,))
    results = bench.measure()
    assert isinstance(results[0], Figure)
    rest = [r for r in results[1:] if isinstance(r, Unmeasured)]
    assert [r.name for r in rest] == [g.name for g in GOALS[1:]]
    assert {r.why for r in rest} == {"broken: no such line"}


def test_a_wire_carries_fewer_frames_that_have_outer_headers():
    """64 bytes are 84 on the wire, and 134 with the 50 that VXLAN over IPv4 adds; of 25 Gb/s."""
    assert "37.2 Mpps of 64-byte frames and 23.3 Mpps" in ceiling()


def test_rounds_of_open_vswitch_end_in_time_and_say_what_disturbed_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def disturbed(dut: str) -> BedTrial:
        asked.append(dut)
        raise DisturbedError("its core was taken away")

    monkeypatch.setattr(bench_ovs, "_sample", disturbed)
    monkeypatch.setattr(bench_ovs, "BUDGET_S", bench_ovs.ROUND_S + 0.05)
    monkeypatch.setattr(bench_ovs, "find_ovs", lambda: None)
    results = list(bench_ovs.open_vswitch())
    assert [result.name for result in results] == list(bench_ovs.NAMES)
    assert all(isinstance(one, Unmeasured) and not one.excused for one in results)
    assert all("its core was taken away" in one.why for one in results)  # type: ignore[union-attr]
    # A round that is disturbed is not gone on with.
    assert set(asked) == {bench_ovs.THROUGH}


def test_a_round_samples_each_once_so_that_ratios_are_of_one_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(bench_ovs, "_sample", lambda dut: asked.append(dut) or made(dut))
    rounds, void, _ = bench_ovs.measured_rounds()
    assert (len(rounds), void) == (PAIRS, 0)
    assert asked == list(bench_ovs.DUTS) * PAIRS


def made(
    _: str, *, back: int = 900, sent: int = 1000, away_ns: int = 0, cycles: float | None = 80.0
) -> BedTrial:
    """A trial of 0.2 s as tester and DUT count it, of which only these counts are looked at."""
    counts = dict.fromkeys(PortCounters.model_fields.keys() - {"discards"}, 0) | {"opackets": sent}
    reading = DutReading(
        ports=(PortCounters(**counts),), busy_cycles_per_packet=cycles, cpu_wait_ns=away_ns
    )
    result = ResultReply.model_construct(
        measured_seconds=0.2,
        streams=(StreamCounts.model_construct(in_order_frames=back, reordered_frames=0),),
        tester=trial_types.TesterHealth.model_construct(tsc_hz=2_600_000_000),
        valid=True,
        invalid_reasons=(),
    )
    return BedTrial.model_construct(result=result, dut=reading)


@pytest.mark.parametrize(
    ("trial", "says"),
    [
        (made("x"), ""),
        (made("x", away_ns=1_900_000), ""),
        # 1 % of 0.2 s.
        (made("x", away_ns=2_100_000), "taken away for 2.1 ms"),
        (made("x", cycles=None), "counted no cycles"),
        (made("x", back=1001), "a contradiction: 1001 frames came back, x counted 1000"),
    ],
)
def test_a_sample_of_open_vswitch_counts_only_if_nobody_disturbed_it_and_both_counts_fit(
    trial: BedTrial, says: str
) -> None:
    said = bench_ovs.disturbance("x", trial)
    assert said == "" if not says else says in said


def test_cycles_of_open_vswitch_stand_beside_the_tester_s_own_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bench_ovs, "find_ovs", lambda: None)
    monkeypatch.setattr(bench_ovs, "_sample", lambda dut: made(dut, back=2_000_000, sent=3_000_000))
    forwarded, through, _ = bench_ovs.open_vswitch()
    assert isinstance(forwarded, Figure)
    assert forwarded.ours == (10.0,) * PAIRS
    assert isinstance(through, Figure)
    # 2.6 GHz over 10 Mpps.
    assert "the core had 260 for each frame that came back" in through.notes[1]
    assert "counts 80 cycles a frame" in through.notes[1]
