"""An outcome says what its search and its trials say, and no more."""

import pytest
from trial_builder import TSC_HZ, build_trial

from wirespeed.measure.search.outcome import build_outcome, unproven_outcome
from wirespeed.measure.search.search import Goal, SearchResult, Tolerance
from wirespeed.model.trial import DutReading, Outcome, Trial

GOAL = Goal(max_load_pps=2e6, min_load_pps=1e3, trial_seconds=1, confirm_seconds=1)


def found(**changed: object) -> SearchResult:
    fields: dict[str, object] = {
        "method": "informed",
        "verdict": "width met",
        "tolerance": Tolerance(relative_width=0.005, loss_ratio=0, exceed_ratio=0),
        "found_load_pps": 1e6,
        "upper_load_pps": 1.004e6,
        "upper_trial": 2,
        "throughput_pps": 1e6,
        "confirmed_seconds": 1.0,
        "confirmed_trial": 3,
        "lost_frames": 0,
        "trials": 3,
        "invalid_trials": 1,
        "seconds": 3.0,
    }
    return SearchResult.model_validate(fields | changed)


def trials(dut: DutReading | None = None) -> list[Trial]:
    failed = build_trial(1_004_000, 4_000, number=2, stream_counts={"refused_frames": 4_000})
    void = build_trial(1_000_000, number=1, valid=False, invalid_reasons=("tester.stalled: x",))
    return [void, failed, build_trial(number=3, dut=dut)]


def build(
    result: SearchResult, made: list[Trial] | None = None, link: float | None = None
) -> Outcome:
    return build_outcome(result, GOAL, made or trials(), link_load_pps=link, seconds=5.0)


def test_the_ledger_is_that_of_the_trial_that_set_the_upper_bound():
    outcome = build(found())
    assert outcome.ledger_trial == 2
    assert outcome.ledger.lost[0].frames == 4_000
    assert (outcome.trials, outcome.invalid_trials) == (2, 1)
    assert outcome.throughput_pps == 1e6


def test_when_nothing_failed_the_ceiling_is_named_and_the_ledger_is_the_confirming_trials():
    outcome = build(
        found(verdict="ceiling passed", upper_load_pps=None, upper_trial=None), link=2e6
    )
    assert outcome.limit.by == "line rate"
    assert outcome.ledger_trial == 3


def test_a_loss_floor_is_the_limit_whatever_else_the_counters_say():
    outcome = build(
        found(verdict="loss floor", loss_floor=1e-5, throughput_pps=None, confirmed_trial=None,
              confirmed_seconds=0)
    )  # fmt: skip
    assert outcome.limit.by == "loss floor"
    assert "1e-05" in outcome.limit.evidence[0]


def test_what_the_search_forgave_is_said():
    tolerance = Tolerance(relative_width=0.005, loss_ratio=0, exceed_ratio=0.5)
    notes = build(found(tolerance=tolerance, notes=("repeated",))).notes
    assert "50%" in notes[0]
    assert notes[1] == "repeated"


def test_the_duts_own_cycle_count_comes_first():
    outcome = build(found(), trials(DutReading(busy_cycles_per_packet=170.0)))
    assert (outcome.busy_cycles_per_packet, outcome.cycles_source) == (170.0, "dut")


def test_without_one_an_overloaded_trial_says_what_a_packet_costs():
    overload = build_trial(2_000_000, 1_000_000, number=4)
    outcome = build(found(), [*trials(), overload])
    assert outcome.cycles_source == "overload"
    assert outcome.busy_cycles_per_packet == TSC_HZ / 1e6


def test_a_far_dut_is_not_told_by_the_testers_tsc_and_core():
    overload = build_trial(2_000_000, 1_000_000, number=4)
    for reading in (DutReading(far=True), DutReading(far=True, core_hz=2_400_000_000)):
        made = [*trials(reading), overload]
        made = [t.model_copy(update={"dut_reading": reading}) for t in made]
        cores = {"core_hz": 3_500_000_000}
        made = [t.model_copy(update={"tester": t.tester.model_copy(update=cores)}) for t in made]
        outcome = build(found(), made)
        assert (outcome.busy_cycles_per_packet, outcome.core_hz) == (None, reading.core_hz)


def test_with_neither_no_cycles_are_given():
    outcome = build(found())
    assert (outcome.busy_cycles_per_packet, outcome.cycles_source) == (None, None)


def test_a_search_that_had_to_give_up_proves_nothing_and_says_why():
    void = build_trial(missing=5, valid=False, invalid_reasons=("tester.stalled: x",))
    outcome = unproven_outcome("informed", 0.005, [void], why="never valid", seconds=1.0)
    assert outcome.throughput_pps is None
    assert outcome.verdict == "no valid trial"
    assert outcome.limit.evidence == ("tester.stalled: x",)
    assert outcome.notes == ("never valid",)


def test_without_a_valid_trial_there_is_nothing_to_build():
    void = build_trial(valid=False, invalid_reasons=("x",))
    with pytest.raises(ValueError):
        build(found(confirmed_trial=None, throughput_pps=None, confirmed_seconds=0), [void])


@pytest.mark.parametrize(
    ("trips", "said"),
    [
        ([260, 282, 234], ()),
        ([0, 0, 0], ()),  # it could not be had
        ([1274, 1352, 1274], ("1,274 cycles a cache line's round trip",)),
        ([260, 1274, 0], ("1,274 cycles a cache line's round trip, in 1 of 2 trials",)),
    ],
)
def test_cores_that_lie_far_apart_are_named(trips: list[int], said: tuple[str, ...]):
    made = [
        trial.model_copy(
            update={"tester": trial.tester.model_copy(update={"pingpong_cycles_before": (trip,)})}
        )
        for trial, trip in zip(trials(), trips, strict=True)
    ]
    wanted = tuple(f"tester and DUT on cores far apart: {each}" for each in said)
    assert build(found(), made).notes == wanted


def test_trials_that_confirmed_the_load_give_its_range_and_a_failure_taken_back_does_not():
    def confirm(number: int, offered: int, missing: int = 0) -> Trial:
        return build_trial(
            offered, missing, number=number, purpose="confirm", intended_load_pps=1e6
        )

    made = [*trials()[:2], confirm(3, 990_000), confirm(4, 1_000_000), confirm(5, 900_000, 7)]
    again = build(found(), made).confirmations
    assert again is not None
    assert (again.trials, again.lowest_pps, again.highest_pps) == (2, 990_000, 1_000_000)
