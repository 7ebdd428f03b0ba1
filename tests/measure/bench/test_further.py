"""After a search: latency and loss by load, bursts back to back, a soak."""

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from fake_tester_in_place import put_in_place

from report.pages import PageReader, html_of
from report.records import outcome, setup, trial
from wirespeed.commands import measure
from wirespeed.commands.quantities import Duration
from wirespeed.measure.bench.further import (
    LONGEST_BURST_S,
    Further,
    back_to_back,
    ladder_loads,
    longest_burst,
    measure_further,
    repeat,
)
from wirespeed.measure.bench.plan import Plan
from wirespeed.measure.bench.run_folder import TRIALS, read_records
from wirespeed.measure.bench.trial_maker import NEVER_VALID
from wirespeed.measure.search.measurer import Purpose, Sample
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.frame_mix import FrameMix, FrameShare
from wirespeed.model.trial import Bursts, DutReading, Outcome, Recovery, Trial
from wirespeed.report.build import build_page
from wirespeed.report.csv_table import render_csv

QUICK = ("--port", "net_fake0", "--frame-bytes", "64", "--trial-seconds", "0.05")
ASKED = (*QUICK, "--confirm-seconds", "0.1", "--flows", "8", "--max-load", "2000000")


def test_a_ladder_goes_by_tenths_to_the_throughput_and_on_to_the_highest_load():
    assert ladder_loads(100.0, 180.0) == (
        10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 120, 140, 160, 180,
    )  # fmt: skip
    assert ladder_loads(100.0, None)[-1] == ladder_loads(100.0, 100.0)[-1] == 100


@pytest.mark.parametrize("buffer_frames", [1500, 20_000, 900_000])
def test_the_longest_burst_is_what_a_buffer_takes_in_beside_what_is_forwarded(buffer_frames: int):
    """At 1 Mpps a DUT that forwards half of it fills its buffer in twice the buffer's frames."""
    asked: list[float] = []

    def passes(seconds: float) -> int:
        asked.append(seconds)
        frames = round(seconds * 1e6)
        return frames if frames * 0.5 <= buffer_frames else 0

    found = longest_burst(passes)
    assert found is not None
    assert 0.97 * 2 * buffer_frames <= found <= 2 * buffer_frames
    assert len(asked) < 20


def test_a_burst_of_two_seconds_that_passes_needs_no_search():
    assert longest_burst(lambda seconds: round(seconds * 1e6)) == LONGEST_BURST_S * 1e6


def test_no_buffer_at_all_is_none_and_a_void_burst_says_nothing():
    assert longest_burst(lambda _: 0) == 0
    assert longest_burst(lambda seconds: None if seconds < 1 else 0) is None


def test_the_buffer_is_corrected_by_what_was_forwarded_meanwhile():
    """RFC 9004 section 6: implied time, less implied time times throughput over highest rate."""
    bursts = Bursts(
        search=1,
        dut="a",
        mix=FrameMix(shares=(FrameShare(frame_bytes=64),)),
        load_pps=14_880_952,
        throughput_pps=7_440_476,
        longest_s=2.0,
        shortest_s=0.001,
        searches=2,
        frames=(26_000, 27_000),
    )
    # 26,500 frames at 14.88 Mpps are 1,780.8 us; half of them were forwarded.
    assert bursts.buffer_s == pytest.approx(890.4e-6, rel=1e-4)
    assert bursts.model_copy(update={"throughput_pps": None}).buffer_s is None
    assert bursts.model_copy(update={"frames": ()}).buffer_s is None


@pytest.mark.parametrize(
    ("frames", "mean", "deviation", "least", "most", "buffer"),
    [
        # 10,000 and 12,000 frames: 11,000 at 2 Mpps are 5,500 us, half of which is forwarded.
        ((10_000, 12_000), "11,000", "1,414", "10,000", "12,000", "2,750"),
        ((10_000, 4_000_000), "at least 2,005,000", "—", "10,000", "at least 4,000,000", "—"),
        ((10_000,), "10,000", "—", "10,000", "10,000", "2,500"),
        ((4_000_000,), "at least 4,000,000", "—", *("at least 4,000,000",) * 2, "—"),
    ],
)
def test_a_mean_over_bursts_that_ended_at_the_longest_time_is_a_lower_bound(
    frames: tuple[int, ...], mean: str, deviation: str, least: str, most: str, buffer: str
):
    found = outcome(throughput_pps=1e6, confirmed_seconds=1, confirmed_trial=1)
    bursts = Bursts(
        search=1, dut=found.dut, mix=found.mix, load_pps=2e6, throughput_pps=1e6,
        longest_s=2.0, shortest_s=0.001, searches=len(frames), frames=frames,
    )  # fmt: skip
    (row,) = PageReader(html_of(build_page([setup(), found, bursts]))).table("Load, Mpps")
    columns = ("Mean, frames", "Deviation", "Least", "Most", "Buffer, µs")
    assert [row[column] for column in columns] == [mean, deviation, least, most, buffer]


@dataclass
class Voiding:
    """What makes trials: the first `good` bursts pass, and no other can be made."""

    good: int

    def measure(self, load_pps: float, seconds: float, purpose: Purpose) -> Sample:
        self.good -= 1
        if self.good < 0:
            raise MeasurementError(NEVER_VALID, where="x", found="stalls")
        frames = round(load_pps * seconds)
        return Sample(
            trial=1, intended_load_pps=load_pps, intended_seconds=seconds, measured_seconds=seconds,
            offered_frames=frames, missing_frames=0,
        )  # fmt: skip


@pytest.mark.parametrize("good", [0, 2])
def test_bursts_that_stayed_void_end_the_searches_and_the_page_says_so(good: int):
    found = outcome(throughput_pps=1e6, confirmed_seconds=1, confirmed_trial=1)
    bursts = back_to_back(Voiding(good), found, 2e6, 5)  # type: ignore[arg-type]
    assert (bursts.searches, bursts.frames) == (5, (4_000_000,) * good)
    records = [setup(), found, bursts]
    page = PageReader(html_of(build_page(records)))
    (row,) = page.table("Load, Mpps")
    assert row["Searches"] == ("0 of 5: void" if good == 0 else "2 of 5")
    assert (row["Mean, frames"] == "—") is (good == 0)


@pytest.fixture(name="out")
def _out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return put_in_place(tmp_path, monkeypatch)


def run(out: Path, *words: str) -> int:
    code = measure.rfc2544.main([*ASKED, *words, "--out", str(out)], standalone_mode=False)
    assert isinstance(code, int)
    return code


def of(out: Path, purpose: str) -> list[Trial]:
    return [r for r in read_records(out) if isinstance(r, Trial) and r.purpose == purpose]


def test_a_run_has_them_in_its_record_and_on_its_page(out: Path):
    further = ("--ladder", "--back-to-back", "2", "--soak", "0.3s")
    assert run(out, *further) == 0
    (outcome,) = (r for r in read_records(out) if isinstance(r, Outcome))
    proven = outcome.throughput_pps
    assert proven is not None and proven <= 1e6
    rungs = of(out, "ladder")
    assert [t.intended_load_pps for t in rungs[:10]] == [proven * n / 10 for n in range(1, 11)]
    assert rungs[-1].intended_load_pps == pytest.approx(2e6)
    assert [t.missing_frames > 0 for t in rungs] == [False] * 10 + [True] * 4
    # The described DUT passes 1 Mpps of 2.
    assert rungs[-1].loss_ratio == pytest.approx(0.5)
    (bursts,) = (r for r in read_records(out) if isinstance(r, Bursts))
    assert bursts.frames == (0, 0) and bursts.load_pps == 2e6
    assert len(of(out, "soak")) == 3
    assert outcome.trials == len([r for r in read_records(out) if isinstance(r, Trial)]) - len(
        [*rungs, *of(out, "burst"), *of(out, "soak")]
    )
    page = (out / "report.md").read_text()
    for words in ("latency and loss by load", "p99.99", "Back to back", "soak", "RFC 9004"):
        assert words in page, words
    html = (out / "report.html").read_text()
    # The described tester tells no latency, so of figures only those of loads and losses are there.
    assert html.count("loads and losses of these") >= 2


def test_what_was_measured_is_not_measured_again_and_the_rest_is(out: Path):
    further = ("--ladder", "--back-to-back", "1", "--soak", "0.2s")
    assert run(out, *further) == 0
    whole = (out / TRIALS).read_text().splitlines()
    fifth = [n for n, line in enumerate(whole) if '"purpose":"ladder"' in line][4]
    (out / TRIALS).write_text("\n".join(whole[: fifth + 1]) + "\n")
    assert run(out, *further, "--resume") == 0
    assert len(of(out, "ladder")) == 14
    assert len([r for r in read_records(out) if isinstance(r, Bursts)]) == 1
    assert len(of(out, "soak")) == 2
    numbers = [r.number for r in read_records(out) if isinstance(r, Trial)]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize(
    ("options", "where"),
    [
        (("--soak", "800h"), "--soak"),
        (("--back-to-back", "1001"), "--back-to-back"),
        (("--resets", "101"), "--resets"),
        (("--resets", "1"), "--resets"),
    ],
    ids=str,
)
def test_what_cannot_be_is_named(out: Path, options: tuple[str, ...], where: str):
    with pytest.raises(InputError) as caught:
        run(out, *options)
    assert caught.value.where == where
    assert not out.exists()


@pytest.mark.parametrize("time", ["8d", "0", "0h", "nan", "8"])
def test_a_soak_has_a_time_with_its_unit(out: Path, time: str):
    with pytest.raises(click.BadParameter, match="8h, 90m or 30s"):
        run(out, "--soak", time)
    assert not out.exists()


def test_a_soak_of_hours_is_so_many_seconds():
    assert [Duration().convert(t, None, None) for t in ("8h", "1.5m", "30s")] == [28800, 90, 30]


def test_nothing_is_asked_for_unless_it_is():
    assert Further().text == ""
    assert Further(ladder=True, soak_seconds=28800).text == (
        "latency and loss by load, soak of 28800 s"
    )
    assert not math.isnan(Further().soak_seconds)


@pytest.mark.parametrize(("good", "asked"), [(3, 15.0), (1, 15.0)])
def test_each_reset_has_a_trial_and_one_that_stays_void_ends_them(good: int, asked: float):
    maker = Voiding(good)
    repeat(maker, 1e6, 3, asked, "reset")  # type: ignore[arg-type]
    assert maker.good == (0 if good == 3 else -1)


def resets() -> list[Trial]:
    """At 1 Mpps: 2 s, 3 s, one that did not come back, one that is void."""
    made = []
    for number, (quiet, last) in enumerate([(2, 0), (3, 0), (1, 9), (2, 0)], 20):
        one = trial(number, load_pps=1_000_000, seconds=15, missing=2_100_000)
        told = {"quiet_ns": (quiet * 10**9, last * 10**9)}
        made.append(one.model_copy(update={"purpose": "reset", **told}))
    void = {"valid": False, "invalid_reasons": ("tester.stalled: 12 ms",)}
    return [*made[:3], made[3].model_copy(update=void)]


def test_page_and_csv_have_the_resets_that_count():
    found = outcome()
    confirmed = [trial(8, load_pps=14_271_000, missing=2_500),
                 trial(9, load_pps=14_200_000, seconds=2, purpose="confirm")]  # fmt: skip
    page = build_page([setup([found.dut]), *confirmed, found, *resets()])
    rows = PageReader(html_of(page)).table("Reset time, s")
    assert [r["Reset time, s"] for r in rows] == ["2.000", "3.000", "not back", "—"]
    assert rows[0]["By loss, s"] == "2.100" and rows[3]["Lost"] == "void"
    assert "Mean 2.500 s, 2.000 to 3.000 s, n 2" in html_of(page)
    (row,) = csv.DictReader(io.StringIO(render_csv(page)))
    assert [row[c] for c in ("resets", "reset_seconds_mean", "reset_seconds_max")] == [
        "2 of 3", "2.500000", "3.000000",
    ]  # fmt: skip


def recoveries() -> list[Trial]:
    """After 6 s of overload at 1.1 Mpps a second of half: 4 ms, none lost, not over, void."""
    made = []
    for number, last_loss_ns in enumerate([4_000_000, 0, 950_000_000, 4_000_000], 20):
        one = trial(number, load_pps=1_100_000, seconds=7, missing=600_000, purpose="recovery")
        kept = Recovery(overload_seconds=6, then_pps=550_000, last_loss_ns=last_loss_ns)
        made.append(one.model_copy(update={"recovery": kept}))
    void = {"valid": False, "invalid_reasons": ("tester.stalled: 12 ms",)}
    return [*made[:3], made[3].model_copy(update=void)]


def test_page_and_csv_have_the_recoveries_that_count():
    found = outcome()
    confirmed = [trial(8, load_pps=14_271_000, missing=2_500),
                 trial(9, load_pps=14_200_000, seconds=2, purpose="confirm")]  # fmt: skip
    page = build_page([setup([found.dut]), *confirmed, found, *recoveries()])
    rows = PageReader(html_of(page)).table("Recovery time, s")
    assert [r["Recovery time, s"] for r in rows] == ["0.004000", "0.000000", "not over", "—"]
    assert [r["For, s"] for r in rows] == ["6"] * 4
    assert "Mean 0.002 s, 0.000 to 0.004 s, n 2" in html_of(page)
    assert "RFC 2544 requires an overload of 60 s or more" in html_of(page)
    (row,) = csv.DictReader(io.StringIO(render_csv(page)))
    assert [row[c] for c in ("recoveries", "recovery_seconds_mean", "recovery_seconds_max")] == [
        "2 of 3", "0.002000", "0.004000",
    ]  # fmt: skip


@pytest.mark.parametrize(("highest", "overload"), [(None, 1.1e6), (2e6, 1.1e6), (1.05e6, 1.05e6)])
def test_an_overload_is_a_tenth_above_and_no_more_than_the_link_carries(
    highest: float | None, overload: float
):
    asked: list[tuple[float, float, Purpose]] = []

    class Noting(Voiding):
        def measure(self, load_pps: float, seconds: float, purpose: Purpose) -> Sample:
            asked.append((load_pps, seconds, purpose))
            return super().measure(load_pps, seconds, purpose)

    maker = Noting(9)
    further = Further(recoveries=2, overload_seconds=60)
    found = outcome(throughput_pps=1e6, confirmed_seconds=1, confirmed_trial=1)
    measure_further(further, found, lambda _: maker, highest_pps=highest, seconds=1)  # type: ignore[arg-type, return-value]
    assert asked == [(pytest.approx(overload), pytest.approx(70), "recovery")] * 2


def single_core(out: Path, *words: str) -> int:
    code = measure.single_core.main([*ASKED, *words, "--out", str(out)], standalone_mode=False)
    assert isinstance(code, int)
    return code


def test_of_a_full_line_the_average_stands_beside_zero_loss_and_in_no_search(out: Path):
    assert single_core(out) == 0
    (line,) = of(out, "line")
    # The described DUT passes 1 Mpps of the 2 that are asked for.
    assert (line.intended_load_pps, line.intended_seconds) == (2e6, 0.1)
    assert line.forwarding_rate_pps == pytest.approx(1e6, rel=0.02)
    (outcome,) = (r for r in read_records(out) if isinstance(r, Outcome))
    assert outcome.throughput_pps is not None and outcome.throughput_pps <= 1e6
    assert line.number > outcome.ledger_trial
    (row,) = csv.DictReader((out / "results.csv").open())
    assert row["line_offered_mpps"] == "2.000000"
    assert float(row["line_forwarded_mpps"]) == pytest.approx(1, rel=0.02)
    assert single_core(out, "--resume") == 0
    assert of(out, "line") == [line], "answered from the record"


def test_a_search_without_a_throughput_still_has_its_trial_at_line_rate():
    asked: list[tuple[float | None, float]] = []

    class Offering(Voiding):
        def overload(self, load_pps: float | None, seconds: float) -> None:
            asked.append((load_pps, seconds))
            raise MeasurementError(NEVER_VALID, where="x", found="stalls")

    nothing = outcome(throughput_pps=None)
    for highest in (None, 2e6):
        further = Further(line_rate=True, ladder=True)
        measure_further(further, nothing, lambda _: Offering(0), highest_pps=highest, seconds=3)  # type: ignore[arg-type, return-value]
    assert asked == [(None, 3), (2e6, 3)]


@pytest.mark.parametrize(("link_bps", "most"), [(None, 1e6), (10**9, 1e6), (672 * 10**5, 1e5)])
def test_no_more_is_offered_than_the_line_and_the_highest_load(link_bps: int | None, most: float):
    plan = Plan(duts=("x",), mixes=(FrameMix.parse("64"),), link_bps=10**9, max_load_pps=1e6)
    plan = plan.model_copy(update={"link_bps": link_bps})
    assert plan.highest_load_pps(plan.mixes[0]) == pytest.approx(most)


def test_cycles_and_clock_of_a_far_dut_are_its_own_or_none():
    """A tester's TSC and core say nothing of another machine's."""
    one = trial(20, load_pps=2_000_000, seconds=1, missing=1_000_000, purpose="line")
    here = one.tester.model_copy(update={"core_hz": 3_000_000_000})
    alone = DutReading(far=True)
    told = DutReading(far=True, core_hz=2_500_000_000, busy_cycles_per_packet=33.4)
    # At 1 Mpps, by the TSC of a machine that both share.
    shared = str(round(one.tester.tsc_hz / 1e6))
    cases = ((alone, "—", "—"), (told, "33", "2.50"), (DutReading(), shared, "3.00"))
    for reading, cycles, clock in cases:
        of_dut = one.model_copy(update={"dut_reading": reading, "tester": here})
        page = build_page([setup(), outcome(), of_dut])
        (row,) = PageReader(html_of(page)).table("Forwarded on average, Mpps")
        assert (row["Busy cycles per packet"], row["Core, GHz"]) == (cycles, clock)
