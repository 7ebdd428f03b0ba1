"""A window counts or is void by itself, and no absence hides the DUT's own loss."""

import itertools
import random

import pytest
from listener import Listener
from simulated_bed import SimulatedBed, Window
from trial_builder import ports

from wirespeed.measure.bench.campaign import Campaign
from wirespeed.measure.bench.plan import Plan
from wirespeed.measure.bench.tester_protocol import TrialRequest
from wirespeed.measure.bench.trial_maker import BeyondTesterError, TrialMaker, TrialSettings
from wirespeed.measure.bench.windowed import LONGEST_S
from wirespeed.measure.bench.windowed_sum import sum_ports
from wirespeed.measure.search.search import Goal, search
from wirespeed.model.error import MeasurementError
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.trial import Trial

CAPACITY = 6e6
LOAD = 4e6
SECONDS = 1.0


def maker(bed: SimulatedBed) -> TrialMaker:
    trials, requests = itertools.count(1), itertools.count(1)
    return TrialMaker(
        lambda: bed,
        TrialSettings(search=1, mix=FrameMix.parse("64"), flows=8, windowed=True),
        next_number=lambda: next(trials),
        next_request=lambda: next(requests),
        record=lambda _: None,
    )


def trial(bed: SimulatedBed, load: float = LOAD) -> tuple[Trial, int]:
    """Make one trial; give it with what a search counts as not passed."""
    made = maker(bed)
    sample = made.measure(load, SECONDS, "search")
    return made.trials[-1], sample.missing_frames


def now_and_then(_number: int, r: random.Random) -> Window:
    """A machine with stalls as they were measured: 1 % of the time, up to 15 ms at once."""
    return Window(
        tester_away=r.uniform(0.0001, 0.015) if r.random() < 0.05 else 0,
        dut_away=r.uniform(0.0001, 0.015) if r.random() < 0.05 else 0,
    )


def test_a_burst_is_one_without_windows_between_which_a_queue_would_drain():
    made = maker(SimulatedBed(CAPACITY))
    made.measure(LOAD, SECONDS, "burst")
    assert made.trials[-1].windows is None
    made.measure(LOAD, SECONDS, "search")
    assert made.trials[-1].windows is not None


def test_a_window_in_which_somebody_was_away_is_void_alone():
    made, missing = trial(SimulatedBed(CAPACITY, happens=now_and_then))
    windows = made.windows
    assert windows is not None
    assert made.valid
    assert missing == 0
    assert windows.valid >= 40
    assert windows.void > 0
    assert windows.valid_seconds == pytest.approx(SECONDS)
    assert set(windows.void_reasons) <= {
        "tester.stalled",
        "tester.stalled_often",
        "machine.dut_away",
    }
    assert str(windows).startswith("windowed: 1.00 s valid of 1.")
    assert f"{windows.valid + windows.void} windows, {windows.void} void (" in str(windows)


def test_a_window_is_void_by_the_absence_and_not_by_its_loss():
    """Void windows are void whether they lost frames or not: what counts is not chosen by loss."""
    away = itertools.cycle([0.0, 0.002])
    bed = SimulatedBed(CAPACITY, 10**9, happens=lambda _n, _r: Window(dut_away=next(away)))
    made, _ = trial(bed)
    windows = made.windows
    assert windows is not None
    assert abs(windows.void - windows.valid) <= 1
    assert windows.void_missing_frames == 0


@pytest.mark.parametrize("seed", range(100))
def test_an_injected_loss_is_found_or_its_window_is_void(seed: int):
    """At a random place and of a random size, in half of the cases at the moment of a stall."""
    r = random.Random(seed)
    place, size = r.randrange(round(SECONDS / LONGEST_S)), round(10 ** r.uniform(0, 4.9))
    at_a_stall = seed % 2 == 0

    def happens(number: int, random_: random.Random) -> Window:
        window = now_and_then(number, random_)
        if number == place:
            window.lost = size
            if at_a_stall:
                who = random_.choice(("tester_away", "dut_away"))
                setattr(window, who, random_.uniform(0.001, 0.02))
        return window

    bed = SimulatedBed(CAPACITY, happens=happens, seed=seed)
    made, missing = trial(bed)
    windows = made.windows
    assert windows is not None
    _, hit = bed.made[place]
    arrived = LOAD * hit.dut_away if hit.dut_away >= 0.001 else 0
    if missing == 0:
        assert windows.void_missing_frames >= size
        assert size <= arrived + 1, "more than an absence explains must never be void"
    else:
        assert missing >= size


def stalls(who: str) -> Window:
    return Window(**{who: 0.003})


@pytest.mark.parametrize(
    ("who", "lost"),
    [
        # The tester's absence makes nobody lose a frame: one is one too many.
        ("tester_away", 1),
        ("tester_away", 5000),
        # What arrives in 3 ms is 12,000 frames. One more is the DUT's own.
        ("dut_away", 12_001),
        ("dut_away", 50_000),
    ],
)
def test_a_dut_that_loses_only_in_windows_that_would_be_void_does_not_pass(who: str, lost: int):
    def happens(number: int, _: random.Random) -> Window:
        window = stalls(who) if number % 4 == 0 else Window()
        window.lost = lost if number % 4 == 0 else 0
        return window

    made, missing = trial(SimulatedBed(CAPACITY, happens=happens))
    assert made.valid
    assert missing >= lost


def test_what_arrives_while_the_dut_is_kept_from_its_core_is_not_its_loss():
    """The docs say so: a DUT that loses no more than that, and only then, passes."""

    def happens(number: int, _: random.Random) -> Window:
        window = stalls("dut_away") if number % 4 == 0 else Window()
        window.lost = 12_000 if number % 4 == 0 else 0
        return window

    made, missing = trial(SimulatedBed(CAPACITY, happens=happens))
    assert missing == 0
    assert made.windows is not None
    assert made.windows.void_share == pytest.approx(0.25, abs=0.02)
    assert made.windows.void_missing_frames == 12_000 * made.windows.void


def test_a_machine_that_is_away_in_most_windows_proves_nothing():
    bed = SimulatedBed(CAPACITY, happens=lambda n, _: Window(tester_away=0.02 * (n % 20 > 0)))
    with pytest.raises(MeasurementError) as caught:
        trial(bed)
    assert caught.value.what == "trial.never_valid"
    assert "trial.windows_void: " in caught.value.found


def test_a_loss_while_the_tester_itself_failed_is_neither_a_pass_nor_the_duts():
    def happens(number: int, _: random.Random) -> Window:
        if number % 40 != 7:
            return Window()
        return Window(lost=100, reasons=("tester.no_mbuf: 3 frames",))

    bed = SimulatedBed(CAPACITY, happens=happens)
    with pytest.raises(MeasurementError, match=r"trial\.never_valid"):
        trial(bed)


@pytest.mark.parametrize("factor", [1.05, 1.2, 2, 10])
def test_a_queue_that_takes_in_what_the_dut_cannot_forward_is_no_pass(factor: float):
    """A ring of 16384 frames loses nothing in 25 ms at 5 % above the capacity; it is late."""
    made, missing = trial(SimulatedBed(CAPACITY), load=CAPACITY * factor)
    assert missing > 0
    if factor == 1.05:
        assert made.missing_frames == 0
        assert made.windows is not None
        assert made.windows.late_frames > 0


@pytest.mark.parametrize("method", ["informed", "rfc2544", "mlrsearch"])
@pytest.mark.parametrize("seed", range(5))
def test_no_search_proves_more_than_the_capacity(method: str, seed: int):
    bed = SimulatedBed(CAPACITY, happens=now_and_then, seed=seed)
    goal = Goal(
        max_load_pps=3 * CAPACITY,
        min_load_pps=CAPACITY / 1000,
        relative_width=0.01,
        trial_seconds=0.3,
        confirm_seconds=1.0,
    )
    result = search(method, maker(bed), goal, lambda _: None)  # type: ignore[arg-type]
    assert result.throughput_pps is not None
    assert 0.95 * CAPACITY < result.throughput_pps <= CAPACITY


@pytest.mark.parametrize("seed", range(10))
def test_a_rate_with_injected_loss_is_never_proven_above_the_true_one(seed: int):
    """Above its true rate the DUT loses 1 frame in 20,000 at random, stalls or not."""
    truth = CAPACITY / 2
    bed = SimulatedBed(CAPACITY, seed=seed)

    def happens(number: int, r: random.Random) -> Window:
        window = now_and_then(number, r)
        load = bed.made_load
        if load > truth:
            mean = load * LONGEST_S / 20_000
            window.lost = sum(r.random() < mean / 20 for _ in range(20))
        return window

    bed.happens = happens
    goal = Goal(
        max_load_pps=3 * CAPACITY,
        min_load_pps=CAPACITY / 1000,
        relative_width=0.01,
        trial_seconds=0.3,
        confirm_seconds=1.0,
    )
    result = search("informed", maker(bed), goal, lambda _: None)
    assert result.throughput_pps is None or result.throughput_pps <= truth


def test_windows_get_shorter_until_they_fit_between_two_turns_of_a_neighbour():
    """A neighbour that takes the core for 4 ms of every 8 leaves no window of 25 ms, but of 3."""
    bed = SimulatedBed(CAPACITY)

    def happens(_: int, r: random.Random) -> Window:
        length = bed.window_s
        turns = (r.uniform(0, 0.008) + length) / 0.008
        return Window(tester_away=0.004 * int(turns))

    bed.happens = happens
    made, missing = trial(bed)
    assert made.valid
    assert missing == 0
    assert made.windows is not None
    assert made.windows.window_seconds < 0.008
    assert made.windows.valid_seconds == pytest.approx(SECONDS, abs=LONGEST_S)


def test_after_a_window_with_a_loss_comes_another_trial_to_the_tester():
    """So that a frame that comes late is never one of another window, whose loss it would hide."""
    bed = SimulatedBed(CAPACITY, happens=lambda n, _: Window(dut_away=0.01 * (n % 5 == 0), lost=1))
    trial(bed)
    numbers = [request.number for request, window in bed.made if window.lost]
    assert numbers == sorted(set(numbers))


def test_what_voids_a_run_voids_each_of_its_windows():
    moved = itertools.cycle([["machine.cores_moved: simulated"], []])
    made, missing = trial(SimulatedBed(CAPACITY, of_run=lambda _: next(moved)))
    assert made.valid
    assert missing == 0
    assert made.windows is not None
    assert made.windows.void_reasons == {"machine.cores_moved": made.windows.void}
    assert made.windows.void > 4


def test_windows_cost_few_runs_of_the_tester():
    """A run is set up, looked at before and after, and settles: some 60 ms that no window needs."""
    bed = SimulatedBed(CAPACITY)
    trial(bed)
    assert len(bed.made) == 40
    assert len({request.number for request, _ in bed.made}) <= 6


def test_void_windows_are_bounded_by_number_too():
    """With a neighbour of no length, most of very many windows would be void for a long time."""

    def happens(_: int, r: random.Random) -> Window:
        return Window(tester_away=0.002 if r.random() < 0.85 else 0)

    bed = SimulatedBed(CAPACITY, happens=happens)
    made = maker(bed)
    with pytest.raises(MeasurementError) as caught:
        made.measure(LOAD, 10.0, "search")
    assert "most 2000; the last: tester.stalled_often" in caught.value.found
    assert max(t.windows.void for t in made.trials if t.windows) <= 2000 + 40


def test_a_load_that_fails_is_given_up_after_a_few_windows():
    bed = SimulatedBed(CAPACITY)
    trial(bed, load=2 * CAPACITY)
    assert len(bed.made) < 10


@pytest.mark.parametrize("drain_away", [0.0005, 0.004, 0.02])
def test_a_dut_that_is_kept_from_its_core_in_the_drain_is_neither_late_nor_slower(
    drain_away: float,
):
    bed = SimulatedBed(CAPACITY, happens=lambda _n, _r: Window(drain_away=drain_away))
    made = maker(bed)
    sample = made.measure(LOAD, SECONDS, "search")
    assert sample.missing_frames == 0
    assert sample.forwarding_rate_pps == pytest.approx(LOAD, rel=0.01)


def test_a_dut_that_is_slow_is_late_though_it_was_kept_from_its_core_for_a_while():
    """At 5 % above its capacity a window leaves 1.3 ms of frames; 0.5 ms away excuses no more."""
    bed = SimulatedBed(CAPACITY, happens=lambda _n, _r: Window(drain_away=0.0005, dut_away=0.0001))
    made, missing = trial(bed, load=CAPACITY * 1.05)
    assert made.missing_frames == 0
    assert missing > 0


def test_a_load_beyond_the_tester_is_that_though_the_dut_was_away_meanwhile():
    away = Window(dut_away=0.003, lost=50_000, reasons=("tester.too_slow: half of it",))
    bed = SimulatedBed(CAPACITY, happens=lambda _n, _r: away)
    with pytest.raises(BeyondTesterError):
        trial(bed)
    assert len(bed.made) == 2


def test_one_window_that_a_machine_makes_late_is_no_failed_load():
    """0.5 ms in one of 40 windows: 0.03 % of the frames; but its time is not the DUT's gain."""

    def happens(number: int, _: random.Random) -> Window:
        return Window(hidden_s=0.0009 if number == 7 else 0.0)

    made = maker(SimulatedBed(CAPACITY, happens=happens))
    sample = made.measure(LOAD, SECONDS, "search")
    windows = made.trials[-1].windows
    assert windows is not None
    assert windows.late_frames > 0
    assert sample.missing_frames == 0
    assert sample.measured_seconds > SECONDS + 0.0009


def test_what_a_card_threw_away_is_added_up_by_name_over_the_windows():
    first, second, third = (ports()[0].model_copy(update={"discards": names}) for names in (
        {"rx_prio3_buf_discard_packets": 7}, {}, {"rx_prio3_buf_discard_packets": 2, "rx_crc": 1},
    ))  # fmt: skip
    (port,) = sum_ports([(first,), (second,), (third,)])
    assert port.discards == {"rx_prio3_buf_discard_packets": 9, "rx_crc": 1}


def test_a_load_beyond_the_tester_is_known_after_a_few_windows():
    """It could send it in one window of five: hundreds of them were made until enough counted."""

    def happens(number: int, _: random.Random) -> Window:
        return Window(reasons=() if number % 5 == 0 else ("tester.too_slow: half of it",))

    bed = SimulatedBed(CAPACITY, happens=happens)
    with pytest.raises(BeyondTesterError):
        trial(bed)
    assert len(bed.made) <= 2 * 40, "two trials of one run each"


def test_a_ceiling_that_is_passed_is_raised_until_the_tester_cannot_send_more():
    """A flood into a full ring costs the tester more than what a DUT takes: 3 Mpps, not 4.5."""

    def beyond(request: TrialRequest) -> list[str]:
        return ["tester.too_slow: simulated"] if (request.load_pps or 0) > 4.5e6 else []

    bed = SimulatedBed(CAPACITY, of_run=beyond, flood_pps=3e6)
    plan = Plan(
        duts=("simulated",),
        mixes=(FrameMix.parse("64"),),
        flows=8,
        trial_seconds=0.3,
        confirm_seconds=0.5,
        windowed=True,
    )
    (outcome,) = Campaign(plan, lambda _: bed, lambda _: None, Listener()).run()
    assert outcome.verdict == "ceiling passed"
    assert outcome.limit.by == "tester"
    # 3 / 0.9^3 = 4.115 was passed, 3 / 0.9^4 = 4.573 is beyond it.
    assert outcome.found_load_pps == pytest.approx(3e6 / 0.9**3)
