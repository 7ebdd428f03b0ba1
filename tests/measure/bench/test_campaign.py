"""A run that was cut anywhere ends as one that was not, and measures nothing twice."""

from itertools import combinations

import pytest
from described_bed import TESTER_PPS, DescribedBed
from listener import Listener

from wirespeed.measure.bench.campaign import Campaign
from wirespeed.measure.bench.further import Further
from wirespeed.measure.bench.plan import Plan
from wirespeed.measure.bench.tester_protocol import TrialRequest
from wirespeed.measure.bench.trial_maker import TesterBounds
from wirespeed.measure.search.search import Method
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.trial import Outcome, Record, Started, Trial, record_adapter

CAPACITY = {"slow": 1e6, "fast": 3e6}
PLAN = Plan(
    duts=("slow", "fast"),
    mixes=(FrameMix.parse("64"), FrameMix.parse("64x7+594x4")),
    flows=8,
    trial_seconds=0.5,
    confirm_seconds=1.0,
)
REPEATED = PLAN.model_copy(update={"mixes": (FrameMix.parse("64"),), "repeats": 3})


METHODS: tuple[Method, ...] = ("rfc2544", "mlrsearch", "informed")


class Beds:
    """Makes testbeds and remembers them; all of them count their trials in one list."""

    def __init__(
        self, dies_at: int | None = None, void: bool = False, reach_pps: float = TESTER_PPS
    ) -> None:
        self.made: list[TrialRequest] = []
        self.beds: list[DescribedBed] = []
        self._dies_at, self._void, self._reach = dies_at, void, reach_pps

    def __call__(self, dut: str) -> DescribedBed:
        assert all(bed.closed for bed in self.beds), "two testbeds at once"
        bed = DescribedBed(
            dut,
            CAPACITY[dut],
            made=self.made,
            dies_at=self._dies_at,
            reach_pps=self._reach,
            void=(lambda _: ["tester.stalled: x"]) if self._void else lambda _: (),
        )
        self.beds.append(bed)
        return bed


def run(
    beds: Beds, written: list[Record], listener: Listener | None = None, plan: Plan = PLAN
) -> list[Outcome]:
    recorded = [record_adapter.validate_json(r.model_dump_json()) for r in written]
    return Campaign(plan, beds, written.append, listener or Listener(), recorded).run()


def comparable(outcomes: list[Outcome]) -> list[dict[str, object]]:
    return [outcome.model_dump(exclude={"seconds"}) for outcome in outcomes]


def test_every_dut_and_mix_is_searched_and_found():
    beds, written, listener = Beds(), [], Listener()
    outcomes = run(beds, written, listener)
    assert [(o.search, o.dut, o.mix.label) for o in outcomes] == [
        (1, "slow", "64"),
        (2, "slow", "64x7+594x4"),
        (3, "fast", "64"),
        (4, "fast", "64x7+594x4"),
    ]
    for outcome in outcomes:
        truth = CAPACITY[outcome.dut]
        assert outcome.throughput_pps is not None
        assert truth * (1 - PLAN.relative_width) <= outcome.throughput_pps <= truth
    assert [r.dut for r in written if isinstance(r, Started)] == ["slow", "fast"]
    assert all(bed.closed for bed in beds.beds)
    assert listener.started == [1, 2, 3, 4]
    assert listener.announced


def test_a_run_cut_at_any_trial_goes_on_to_the_same_end():
    whole: list[Record] = []
    beds = Beds()
    expected = comparable(run(beds, whole))
    trials = [r.model_dump(exclude={"started_at"}) for r in whole if isinstance(r, Trial)]
    for cut in range(1, len(beds.made) + 1):
        written: list[Record] = []
        with pytest.raises(MeasurementError, match=r"dut\.died"):
            run(dying := Beds(dies_at=cut), written)
        assert len([r for r in written if isinstance(r, Trial)]) == cut - 1
        assert all(bed.closed for bed in dying.beds)
        rest = Beds()
        assert comparable(run(rest, written)) == expected
        assert len(rest.made) == len(beds.made) - (cut - 1), "something was measured twice"
        again = [r.model_dump(exclude={"started_at"}) for r in written if isinstance(r, Trial)]
        assert again == trials


def test_a_finished_run_is_not_measured_again():
    written: list[Record] = []
    expected = comparable(run(Beds(), written))
    idle = Beds()
    assert comparable(run(idle, written)) == expected
    assert idle.made == []


def test_a_search_that_the_machine_was_too_noisy_for_does_not_end_the_run():
    outcomes = run(Beds(void=True), [])
    assert [o.verdict for o in outcomes] == ["no valid trial"] * 4


def test_a_line_rate_bounds_the_load():
    plan = PLAN.model_copy(update={"duts": ("fast",), "link_bps": 1_000_000_000})
    outcomes = Campaign(plan, Beds(), lambda _: None, Listener()).run()
    assert outcomes[0].limit.by == "line rate"
    # 1 Gb/s at 84 wire bytes
    assert outcomes[0].throughput_pps == pytest.approx(1e9 / 8 / 84, rel=1e-5)


def test_the_full_method_is_a_bisection_with_trials_of_a_minute():
    # width 0.5 %: 8 halvings, a first trial and a confirming one, for each of four searches
    assert PLAN.full_method_seconds == 4 * (8 + 2) * 60


def test_a_ceiling_beyond_the_tester_comes_down_until_it_can_be_offered():
    beds = Beds(reach_pps=2.5e6)
    slow, _, fast, _ = run(beds, [])
    assert slow.throughput_pps == pytest.approx(1e6, rel=PLAN.relative_width)
    assert fast.throughput_pps == pytest.approx(2.5e6 * 0.9)
    assert fast.limit.by == "tester"
    beyond = [r for r in beds.made if (r.load_pps or 0) > 2.5e6]
    assert len(beyond) == 2 * 2, "twice in each search of the fast one, and no more"


def test_a_run_cut_while_the_ceiling_comes_down_goes_on_to_the_same_end():
    expected = comparable(run(beds := Beds(reach_pps=2.5e6), []))
    for cut in range(1, len(beds.made) + 1):
        written: list[Record] = []
        with pytest.raises(MeasurementError, match=r"dut\.died"):
            run(Beds(dies_at=cut, reach_pps=2.5e6), written)
        assert comparable(run(Beds(reach_pps=2.5e6), written)) == expected


@pytest.mark.parametrize("method", METHODS)
def test_every_search_that_is_interrupted_goes_on_to_the_same_end(method: Method):
    plan = PLAN.model_copy(
        update={"method": method, "duts": ("slow",), "relative_width": 0.05, "max_load_pps": 3e6}
    )
    noisy = {3, 4, 9}

    class Noisy(Beds):
        """Some trials are void, told by their numbers."""

        interrupted_at = 0

        def __call__(self, dut: str) -> DescribedBed:
            bed = super().__call__(dut)
            bed._void = self._verdict
            return bed

        def _verdict(self, request: TrialRequest) -> list[str]:
            if request.number == self.interrupted_at:
                raise KeyboardInterrupt
            return ["tester.stalled: x"] if request.number in noisy else []

    expected = comparable(run(whole := Noisy(), [], plan=plan))
    assert expected[0]["invalid_trials"]
    for cut in range(1, len(whole.made) + 1):
        written: list[Record] = []
        beds = Noisy()
        beds.interrupted_at = cut
        with pytest.raises(KeyboardInterrupt):
            run(beds, written, plan=plan)
        assert all(bed.closed for bed in beds.beds)
        assert comparable(run(Noisy(), written, plan=plan)) == expected
        numbers = [r.number for r in written if isinstance(r, Trial)]
        assert numbers == list(range(1, len(whole.made) + 1))


def test_time_that_an_earlier_run_measured_is_counted():
    written: list[Record] = []
    with pytest.raises(MeasurementError):
        run(Beds(dies_at=4), written)
    measured = sum(r.measured_seconds for r in written if isinstance(r, Trial) and r.search == 1)
    assert run(Beds(), written)[0].seconds >= measured > 1


def test_a_highest_load_that_nothing_can_offer_is_bad_input():
    plan = PLAN.model_copy(update={"max_load_pps": TESTER_PPS * 1.01})
    with pytest.raises(InputError) as error:
        run(Beds(), [], plan=plan)
    assert error.value.what == "load.too_high"
    assert "20000000 pps at most" in error.value.found


def test_a_highest_load_bounds_the_search_and_is_no_limit_of_the_dut():
    plan = PLAN.model_copy(update={"max_load_pps": 5e5})
    beds = Beds()
    outcomes = run(beds, [], plan=plan)
    assert {o.throughput_pps for o in outcomes} == {5e5}
    assert {o.limit.by for o in outcomes} == {"cannot tell"}
    assert max(r.load_pps or 0 for r in beds.made) == 5e5


@pytest.mark.parametrize(
    "wrong",
    [
        {"flows": 0},
        {"flows": (1 << 24) + 1},
        {"relative_width": 0.0},
        {"relative_width": 1.0},
        {"trial_seconds": 0.0},
        {"trial_seconds": float("nan")},
        {"confirm_seconds": float("inf")},
        {"confirm_seconds": 0.49},
        {"burst_frames": 0},
        {"burst_frames": 129},
        {"max_load_pps": 0.0},
        {"max_load_pps": -1.0},
        {"link_bps": 0},
        {"link_bps": 672_000, "max_load_pps": 1001.0},
        {"duts": ()},
        {"mixes": ()},
    ],
    ids=str,
)
def test_a_plan_that_cannot_be_carried_out_is_refused(wrong: dict[str, object]):
    with pytest.raises(ValueError):
        Plan.model_validate(PLAN.model_dump() | wrong)


def test_a_size_is_searched_as_often_as_asked_and_later_searches_need_fewer_trials():
    beds, written = Beds(), []
    outcomes = run(beds, written, plan=REPEATED)
    assert [(o.search, o.dut, o.mix.label) for o in outcomes] == [
        (1, "slow", "64"),
        (2, "slow", "64"),
        (3, "slow", "64"),
        (4, "fast", "64"),
        (5, "fast", "64"),
        (6, "fast", "64"),
    ]
    for dut, first, *later in (("slow", *outcomes[:3]), ("fast", *outcomes[3:])):
        for outcome in (first, *later):
            assert outcome.throughput_pps is not None
            truth = CAPACITY[dut]
            assert truth * (1 - PLAN.relative_width) <= outcome.throughput_pps <= truth
        assert all(outcome.trials <= first.trials for outcome in later)
    assert len(beds.beds) == 2, "a DUT stays for all its searches"


class FarBeds(Beds):
    """Their DUT calls itself otherwise than the plan does."""

    def __call__(self, dut: str) -> DescribedBed:
        self.beds.append(DescribedBed(f"{dut} on beta", CAPACITY[dut], made=self.made))
        return self.beds[-1]


def test_what_comes_after_a_search_is_measured_on_its_dut_whatever_it_calls_itself():
    further = REPEATED.model_copy(update={"repeats": 1, "further": Further(ladder=True)})
    beds, written = FarBeds(), []
    run(beds, written, plan=further)
    rungs = [r for r in written if isinstance(r, Trial) and r.purpose == "ladder"]
    assert {r.dut for r in rungs} == {"slow on beta", "fast on beta"}
    assert len(beds.beds) == 2, "a DUT stays for what comes after its search"


def test_repeated_searches_that_are_cut_at_any_trial_go_on_to_the_same_end():
    expected = comparable(run(beds := Beds(), [], plan=REPEATED))
    for cut in range(1, len(beds.made) + 1):
        written: list[Record] = []
        with pytest.raises(MeasurementError, match=r"dut\.died"):
            run(Beds(dies_at=cut), written, plan=REPEATED)
        assert comparable(run(Beds(), written, plan=REPEATED)) == expected


def test_every_part_of_a_plan_is_among_its_settings():
    changed: dict[str, object] = {
        "duts": ("slow",),
        "mixes": (FrameMix.parse("65"),),
        "flows": 9,
        "method": "rfc2544",
        "relative_width": 0.00500001,
        "trial_seconds": 0.5000001,
        "confirm_seconds": 1.0000001,
        "confirmations": 2,
        "burst_frames": 31,
        "link_bps": 1_000_000_001,
        "max_load_pps": 1_000_001.0,
        "windowed": True,
        "bounds": TesterBounds(stalled_share=0.06),
        "overloads": False,
        "repeats": 2,
        "further": Further(ladder=True),
    }
    assert changed.keys() == Plan.model_fields.keys()
    settings = [
        PLAN.model_copy(update={field: value}).settings(wire="x", bidirectional=False)
        for field, value in changed.items()
    ]
    settings += [PLAN.settings(wire="y", bidirectional=False)]
    settings += [PLAN.settings(wire="x", bidirectional=True)]
    settings += [PLAN.settings(wire="x", bidirectional=False)]
    for one, other in combinations(settings, 2):
        assert one != other


def test_looser_bounds_of_the_tester_are_named_and_the_usual_ones_are_not():
    usual = PLAN.settings(wire="x", bidirectional=False)
    assert not any("loosened" in value for value in usual.values())
    loose = PLAN.model_copy(update={"bounds": TesterBounds(gap_limit_ms=200, stalled_share=0.6)})
    assert loose.settings(wire="x", bidirectional=False)["bounds of the tester"] == (
        "loosened: away for 200 ms at once (usual: 10), for 60% of a trial in all (usual: 5%)"
    )


def test_a_run_that_never_overloads_has_a_highest_load():
    with pytest.raises(ValueError, match="a highest load is asked for"):
        Plan.model_validate(PLAN.model_dump() | {"overloads": False, "max_load_pps": None})


def test_how_far_the_confirming_trials_lie_apart_is_in_the_outcome():
    (first, *_) = run(Beds(), [], plan=PLAN.model_copy(update={"confirmations": 3}))
    assert first.confirmations is not None and first.throughput_pps is not None
    assert first.confirmations.trials == 3
    assert first.confirmations.lowest_pps == first.throughput_pps
    assert run(Beds(), [])[0].confirmations is None
