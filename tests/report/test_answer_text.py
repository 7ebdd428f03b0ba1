"""The few lines at the end of a run, and the first ones of its page."""

from wirespeed.model.trial import Limit, Outcome
from wirespeed.model.windows import Windows
from wirespeed.report import words
from wirespeed.report.answer_text import answer_lines, answer_text
from wirespeed.report.page import Headline, Missing, Spread

from .records import mix, outcome

WINDOWS = Windows(
    window_seconds=0.025,
    valid=40,
    void=10,
    void_reasons={"machine.dut_away": 10},
    valid_seconds=1,
    seconds=1.3,
    drain_seconds=0,
    late_frames=0,
    void_offered_frames=0,
    void_missing_frames=0,
)
UNPROVEN = {
    "found_load_pps": None,
    "throughput_pps": None,
    "confirmed_seconds": 0,
    "confirmed_trial": None,
}


def made(number: int, dut: str, size: int, **changed: object) -> Outcome:
    fields = outcome().model_dump() | {"search": number, "dut": dut, "mix": mix(size)} | changed
    return Outcome.model_validate(fields)


def test_the_end_of_a_run_says_what_was_measured_what_is_proven_and_what_was_set_aside():
    proven = {"throughput_pps": 4_321_000.0, "confirmed_seconds": 1.0, "windows": WINDOWS}
    far = ("tester and DUT on cores far apart: 1,274 cycles a cache line's round trip",)
    lines = answer_lines(
        [
            made(1, "testpmd-macswap", 64, **proven),
            made(2, "testpmd-macswap", 1518, **(proven | {"throughput_pps": 1_200_000.0})),
            made(3, "l3fwd-lpm", 64, **UNPROVEN, notes=far),
        ]
    )
    assert lines == [
        "Measured: the highest rate without a lost frame; testpmd-macswap, l3fwd-lpm; "
        "64 B to 1518 B.",
        "testpmd-macswap forwards 4.32 million frames of 64 bytes a second, and 1.20 million "
        "frames of 1518 bytes a second.",
        "Proven: 2 of 3 rates. Each lost no frame in 1 s of short windows (not RFC 2544's trials).",
        "Set aside: 20 of 100 windows in which tester or DUT had no core (20%).",
        "In 1 of 3 the two cores lay far apart: slower by the machine.",
    ]


def test_a_size_that_was_searched_several_times_has_its_median_and_its_range():
    rates = (4.9e6, 4.75e6, 4.811e6)
    searches = [
        made(n, "l3fwd-lpm", 64, throughput_pps=pps, confirmed_seconds=1.0)
        for n, pps in enumerate(rates, 1)
    ]
    lines = answer_lines([*searches, made(4, "l3fwd-lpm", 64, **UNPROVEN)])
    assert lines[1:] == [
        "l3fwd-lpm forwards 4.81 million frames of 64 bytes a second (4.75 to 4.90 in 3 searches).",
        "Proven: 3 of 4 rates. Each lost no frame in a trial of 1 s.",
    ]


def test_the_end_of_a_run_fits_80_columns():
    dut = "testpmd-macswap"
    rates = {"throughput_pps": 4_321_000.0, "confirmed_seconds": 1.0}
    text = answer_text([made(n, dut, size, **rates) for n, size in enumerate((64, 1518), 1)])
    assert max(map(len, text.splitlines())) <= 80
    said = " ".join(text.split())
    assert "4.32 million frames of 64 bytes a second, and 4.32 million frames of 1518" in said


def test_what_was_not_proven_is_no_rate_in_any_line():
    lines = answer_lines([made(1, "testpmd-macswap", 64, **UNPROVEN)])
    assert lines[1:] == ["Proven: 0 of 1 rates. The page says why not."]


def headline(**changed: object) -> Headline:
    spread = Spread(searches=1, proven=1, median_pps=4e6, lowest_pps=4e6, highest_pps=4e6)
    fields = {
        "run": "",
        "dut": "l3fwd-lpm",
        "frame_label": "64",
        "throughput": spread,
        "confirmed_seconds": 1.0,
        "limited_by": "DUT core busy",
    }
    return Headline.model_validate(fields | changed)


def test_a_page_begins_with_the_answer_in_a_newcomers_words():
    assert words.in_words(headline()) == (
        "l3fwd-lpm forwards 4.00 million frames of 64 bytes a second without losing one. "
        "Its processor core was busy all the time: that kept it from more."
    )
    missing = headline(throughput=Missing(reason="trials stayed void", shown="not proven"))
    assert words.in_words(missing) == (
        "How many frames of 64 bytes a second l3fwd-lpm forwards without losing one is not "
        "proven: trials stayed void."
    )


def test_every_limit_has_its_words():
    assert set(words.IN_WORDS) == set(Limit.model_fields["by"].annotation.__args__)  # type: ignore[union-attr]
