"""Void trials are made again and kept; a record is answered from before anything is measured."""

from collections.abc import Callable, Sequence
from itertools import count

import pytest
from described_bed import TESTER_PPS, DescribedBed

from wirespeed.measure.bench.testbed import BedTrial
from wirespeed.measure.bench.tester_protocol import Change, ProgressReply, Then, TrialRequest
from wirespeed.measure.bench.trial_maker import (
    DUT_CORE_TAKEN,
    MAX_REPEATS,
    MAX_REPEATS_FOR_DUT,
    BeyondTesterError,
    TrialMaker,
    TrialSettings,
)
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.trial import Trial, record_adapter
from wirespeed.report.result import recovery_s, reset_s

SETTINGS = TrialSettings(search=1, mix=FrameMix.parse("64"), flows=8)


class Made:
    """A maker and all that it recorded."""

    def __init__(
        self,
        bed: DescribedBed,
        recorded: Sequence[Trial] = (),
        settings: TrialSettings = SETTINGS,
    ) -> None:
        self.written: list[Trial] = []
        numbers = count(max((t.number for t in recorded), default=0) + 1)
        self.maker = TrialMaker(
            lambda: bed,
            settings,
            next_number=lambda: next(numbers),
            record=self.written.append,
            recorded=recorded,
        )


def test_a_void_trial_is_recorded_and_made_again():
    bed = DescribedBed(void=lambda r: ["tester.stalled: x"] if r.number < 3 else [])
    made = Made(bed)
    sample = made.maker.measure(5e5, 1.0, "search")
    assert [t.valid for t in made.written] == [False, False, True]
    assert (sample.trial, sample.invalid_trials, sample.missing_frames) == (3, 2, 0)


def test_trials_that_stay_void_end_in_an_error_that_says_why():
    made = Made(DescribedBed(void=lambda _: ["tester.stalled: 12 ms"]))
    with pytest.raises(MeasurementError) as caught:
        made.maker.measure(5e5, 1.0, "search")
    assert caught.value.what == "trial.never_valid"
    assert "12 ms" in caught.value.found
    assert len(made.written) == MAX_REPEATS + 1


def test_a_loss_that_a_taken_core_explains_is_forgiven_a_bounded_number_of_times():
    # 100,000 frames missing; 200 ms of silence explain 220,000 at 1.1 Mpps
    made = Made(DescribedBed(silence_ns=200_000_000))
    sample = made.maker.measure(1.1e6, 1.0, "search")
    assert [t.valid for t in made.written] == [False] * MAX_REPEATS_FOR_DUT + [True]
    assert made.written[0].invalid_reasons[0].startswith(DUT_CORE_TAKEN)
    assert sample.missing_frames == 100_000


def test_a_duts_own_machine_is_part_of_it():
    made = Made(DescribedBed(silence_ns=200_000_000, shares_machine=False))
    assert made.maker.measure(1.1e6, 1.0, "search").invalid_trials == 0


def test_a_loss_larger_than_the_silence_is_never_forgiven():
    made = Made(DescribedBed(silence_ns=50_000_000))
    assert made.maker.measure(1.1e6, 1.0, "search").invalid_trials == 0


def test_a_capacity_trial_offers_all_that_the_tester_can():
    bed = DescribedBed(silence_ns=900_000_000)
    trial = Made(bed).maker.capacity(0.1)
    assert bed.made[0].load_pps is None
    assert trial.intended_load_pps == TESTER_PPS
    assert trial.purpose == "capacity"
    assert trial.valid


def test_a_record_is_answered_in_its_order_before_anything_is_measured():
    first = Made(DescribedBed(void=lambda r: ["tester.x: y"] if r.number == 2 else []))
    loads = (1e6 / 3, 7e5, 1.3e6)
    before = [first.maker.measure(load, 1.0, "search") for load in loads]
    # As it comes from the file: a float must survive the way there and back.
    recorded = [record_adapter.validate_json(t.model_dump_json()) for t in first.written]
    bed = DescribedBed()
    again = Made(bed, [t for t in recorded if isinstance(t, Trial)])
    assert [again.maker.measure(load, 1.0, "search") for load in loads] == before
    assert bed.made == []
    assert again.maker.measure(9e5, 1.0, "search").trial == 5
    assert len(again.written) == 1


@pytest.mark.parametrize(
    ("load", "seconds", "purpose"),
    [(5e5 + 1, 1.0, "search"), (5e5, 2.0, "search"), (5e5, 1.0, "confirm")],
)
def test_a_record_of_another_search_is_not_used(load: float, seconds: float, purpose: str):
    first = Made(DescribedBed())
    first.maker.measure(5e5, 1.0, "search")
    first.maker.measure(load, seconds, purpose)  # type: ignore[arg-type]
    bed = DescribedBed()
    again = Made(bed, first.written)
    again.maker.measure(load, seconds, purpose)  # type: ignore[arg-type]
    assert len(bed.made) == 1


def test_once_a_record_did_not_fit_none_of_it_is_used():
    first = Made(DescribedBed())
    first.maker.measure(5e5, 1.0, "search")
    bed = DescribedBed()
    again = Made(bed, first.written)
    again.maker.measure(6e5, 1.0, "search")
    again.maker.measure(5e5, 1.0, "search")
    assert len(bed.made) == 2


def test_a_load_beyond_the_tester_is_tried_twice_and_no_more():
    made = Made(DescribedBed(void=lambda _: ["tester.too_slow: offered 1 of 2"]))
    with pytest.raises(BeyondTesterError) as caught:
        made.maker.measure(5e5, 1.0, "search")
    assert len(made.written) == 2
    assert caught.value.offered_load_pps == 5e5


def test_a_load_is_confirmed_as_often_as_asked_and_no_other_trial_is_repeated():
    made = Made(DescribedBed(), settings=SETTINGS.model_copy(update={"confirmations": 3}))
    made.maker.measure(5e5, 1.0, "search")
    made.maker.measure(5e5, 2.0, "confirm")
    assert [t.purpose for t in made.written] == ["search", "confirm", "confirm", "confirm"]


def test_one_confirming_trial_that_loses_fails_the_load_and_ends_it():
    # The bed forwards 1.0 Mpps; the second trial of the load finds half of that.
    slow = DescribedBed(capacity_pps=lambda r: 5e5 if r.number == 2 else 1e6)
    made = Made(slow, settings=SETTINGS.model_copy(update={"confirmations": 3}))
    sample = made.maker.measure(8e5, 1.0, "confirm")
    assert (sample.trial, sample.missing_frames) == (2, 300_000)
    assert len(made.written) == 2


class ResetBed(DescribedBed):
    """Tells of each half second; its DUT forwards nothing for 2.5 s from the reset on."""

    quiet_ns = (2_500_000_000, 40_000)

    def __init__(self, void: Sequence[str] = (), *, shares_machine: bool = True) -> None:
        super().__init__(capacity_pps=5e5, void=lambda _: void, shares_machine=shares_machine)
        self.resets: list[float] = []
        self.looks_ms: list[int] = []
        self._now = 0.0

    def reset(self) -> None:
        self.resets.append(self._now)

    def run(
        self, request: TrialRequest, progress: Callable[[ProgressReply], None] | None = None
    ) -> BedTrial:
        assert progress is not None and request.windows == 0
        self.looks_ms.append(request.link_look_ms)
        for half in range(1, round(request.seconds * 2) + 1):
            self._now = half / 2
            progress(
                ProgressReply(
                    v=1, id=1, event="progress", seconds=self._now, offered_frames=0,
                    received_frames=0,
                )
            )  # fmt: skip
        return super().run(request, progress)


@pytest.mark.parametrize(("windowed", "shares"), [(False, True), (True, True), (False, False)])
def test_a_dut_is_reset_once_in_a_trial_when_it_was_seen_to_forward(windowed: bool, shares: bool):
    bed = ResetBed(shares_machine=shares)
    made = Made(bed, settings=SETTINGS.model_copy(update={"windowed": windowed}))
    made.maker.measure(1e6, 6.0, "reset")
    (trial,) = made.written
    assert bed.resets == [1.0]
    assert bed.looks_ms == [10 if shares else 500]
    assert (trial.purpose, reset_s(trial), trial.missing_frames) == ("reset", 2.5, 3_000_000)


def test_a_link_that_was_down_meanwhile_voids_no_reset_and_a_stall_does():
    made = Made(ResetBed(void=["tester.too_slow: 10 % less"]))
    made.maker.measure(1e6, 6.0, "reset")
    assert [t.valid for t in made.written] == [True]
    stalled = Made(ResetBed(void=["tester.too_slow: x", "tester.stalled: 12 ms"]))
    with pytest.raises(MeasurementError):
        stalled.maker.measure(1e6, 6.0, "reset")
    assert stalled.written[0].invalid_reasons == ("tester.stalled: 12 ms",)
    assert reset_s(stalled.written[0]) is None


def test_a_trial_without_its_reset_is_void():
    bed = ResetBed()
    made = Made(bed)
    with pytest.raises(MeasurementError):
        made.maker.measure(1e6, 0.5, "reset")
    assert bed.resets == []
    assert made.written[0].invalid_reasons[0].startswith("trial.not_reset")


@pytest.mark.parametrize("quiet", [(2_500_000_000, 3_000_000_000), (0, 4_000_000_000)], ids=str)
def test_a_dut_that_did_not_come_back_has_no_reset_time(quiet: tuple[int, int]):
    bed = ResetBed()
    bed.quiet_ns = quiet
    made = Made(bed)
    made.maker.measure(1e6, 6.0, "reset")
    assert reset_s(made.written[0]) is None


def test_a_dut_that_cannot_be_started_again_is_not_reset():
    with pytest.raises(InputError, match=r"dut\.no_reset"):
        Made(DescribedBed()).maker.measure(1e6, 6.0, "reset")


def test_a_reset_that_is_in_the_record_is_not_made_again():
    first = Made(ResetBed())
    first.maker.measure(1e6, 6.0, "reset")
    kept = record_adapter.validate_json(first.written[0].model_dump_json())
    assert isinstance(kept, Trial)
    bed = ResetBed()
    again = Made(bed, recorded=[kept])
    again.maker.measure(1e6, 6.0, "reset")
    assert (bed.resets, again.written, reset_s(kept)) == ([], [], 2.5)


class OverloadedBed(DescribedBed):
    """Its DUT goes on losing frames for 30 ms once an overload ends."""

    changes = True

    def run(
        self, request: TrialRequest, progress: Callable[[ProgressReply], None] | None = None
    ) -> BedTrial:
        assert request.then is not None and request.windows == 0
        self.asked = (request.load_pps, request.then)
        made = super().run(request, progress)
        change = Change(at_ns=round(request.then.after_seconds * 1e9), last_loss_ns=30_000_000)
        update = {"change": change if self.changes else None}
        return made.model_copy(update={"result": made.result.model_copy(update=update)})


@pytest.mark.parametrize("windowed", [False, True])
def test_an_overload_goes_on_at_half_of_it_in_the_same_trial(windowed: bool):
    bed = OverloadedBed(capacity_pps=1e6)
    made = Made(bed, settings=SETTINGS.model_copy(update={"windowed": windowed}))
    made.maker.measure(1.1e6, 70.0, "recovery")
    assert bed.asked == (1.1e6, Then(after_seconds=60, pps=0.55e6))
    kept = record_adapter.validate_json(made.written[0].model_dump_json())
    assert isinstance(kept, Trial) and kept.recovery is not None
    assert (kept.recovery.last_loss_ns, recovery_s(kept)) == (30_000_000, 0.03)


def test_an_overload_that_did_not_end_is_void():
    bed = OverloadedBed(capacity_pps=1e6)
    bed.changes = False
    made = Made(bed)
    with pytest.raises(MeasurementError):
        made.maker.measure(1.1e6, 70.0, "recovery")
    assert made.written[0].invalid_reasons[0].startswith("trial.load_not_changed")
    assert recovery_s(made.written[0]) is None
