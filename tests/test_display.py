"""What is shown: plain lines of at most 80 columns, one live line in a terminal."""

import io
from itertools import product
from typing import get_args

import pytest
from rich.console import Console

from report.records import trial
from wirespeed.display import Display, line_rate_table, outcome_line, single_core_table
from wirespeed.measure.bench.duts import DUT_NAMES
from wirespeed.measure.bench.tester_protocol import ProgressReply
from wirespeed.measure.search.search import Progress, Verdict
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.spread import Confirmations
from wirespeed.model.trial import Ledger, Limit, Outcome

SIZES = [FrameMix.parse(label) for label in ("64", "9600", "64x7+594x4+1518x1")]
LIMITS = get_args(Limit.model_fields["by"].annotation)
LONG_PROGRESS = Progress(
    method="informed",
    purpose="confirm",
    load_pps=148_809_523,
    seconds=60,
    lower_load_pps=148_000_000,
    upper_load_pps=149_000_000,
    trials_done=3,
    trials_left=4,
    seconds_left=1234,
)


def outcome(**changed: object) -> Outcome:
    fields: dict[str, object] = {
        "search": 1,
        "dut": "testpmd-macswap",
        "mix": SIZES[0],
        "method": "informed",
        "goal_width": 0.005,
        "found_load_pps": 148_809_523.0,
        "upper_load_pps": None,
        "throughput_pps": 148_809_523.0,
        "confirmed_seconds": 60,
        "confirmed_trial": 3,
        "lost_frames": 0,
        "trials": 3,
        "invalid_trials": 0,
        "seconds": 64,
        "verdict": "width met",
        "limit": Limit(by="DUT core busy", evidence=()),
        "ledger": Ledger(offered_frames=0, received_frames=0, lost=(), unexplained_frames=0),
        "ledger_trial": 3,
    }
    return Outcome.model_validate(fields | changed)


NOTHING = {"throughput_pps": None, "confirmed_trial": None, "confirmed_seconds": 0}


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=80, height=24)


def text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("dut", [*DUT_NAMES, "external"])
def test_every_result_fits_80_columns(dut: str):
    for mix, by in product(SIZES, LIMITS):
        limit = Limit(by=by, evidence=())
        assert len(outcome_line(outcome(dut=dut, mix=mix, limit=limit))) <= 80
        ten = Confirmations(trials=10, lowest_pps=1e6, highest_pps=1e6)
        short = outcome(dut=dut, mix=mix, limit=limit, confirmed_seconds=0.5, confirmations=ten)
        assert len(outcome_line(short)) <= 80
        for verdict in get_args(Verdict):
            lost = outcome(dut=dut, mix=mix, limit=limit, verdict=verdict, **NOTHING)
            assert len(outcome_line(lost)) <= 80


def test_a_result_says_what_was_proven_for_how_long_and_what_the_limit_was():
    assert outcome_line(outcome()) == (
        "testpmd-macswap   64 B 148.810 Mpps, 0 lost in 60 s; limit: DUT core busy"
    )


def test_what_was_not_proven_is_never_given_as_a_rate():
    line = outcome_line(outcome(verdict="loss floor", found_load_pps=1e6, **NOTHING))
    assert line == "testpmd-macswap   64 B not proven: loss floor; DUT core busy"


def test_single_core_figures_follow_from_the_throughput():
    table = single_core_table(
        [
            outcome(
                throughput_pps=10e6,
                busy_cycles_per_packet=148.4,
                cycles_source="dut",
                core_hz=3_400_000_000,
            ),
            outcome(mix=SIZES[2], **NOTHING),
        ]
    )
    _, proven, unproven = table.splitlines()
    # 10 Mpps of 64 bytes: 5.12 Gb/s
    assert proven.split() == ["testpmd-macswap", "64", "B", "10.000", "5.120", "3.40", "148", "TSC"]
    assert unproven.split() == ["testpmd-macswap", "IMIX", "-", "-", "-", "-"]
    assert len({len(line) for line in table.splitlines()}) == 1


def test_a_loss_at_line_rate_is_never_rounded_to_none():
    lost, none = (trial(1, load_pps=892_857_120, seconds=1, missing=n) for n in (4_000, 0))
    _, *rows = line_rate_table([lost, none]).splitlines()
    # 4,000 of 892,857,120 are 4.48 ppm.
    assert rows[0].endswith(" 0.00045 %")
    assert rows[1].endswith(" 0")
    assert len({len(row) for row in rows}) == 1


def test_a_terminal_shows_size_load_bracket_and_the_time_left_in_one_line():
    console = terminal()
    with Display(14, console) as display:
        display.search_started(10, "testpmd-macswap", SIZES[1])
        display.search_observer()(LONG_PROGRESS)
        display.trial_progress(
            ProgressReply(
                v=1, id=1, event="progress", seconds=59.7, offered_frames=1, received_frames=1
            )
        )
    line = "[10/14] testpmd-macswap 9600 B confirm 148.810 [148.000, 149.000] Mpps ~1234 s"
    assert len(line) <= 80
    assert line in text(console)


def test_no_terminal_gets_no_live_line_and_no_control_codes():
    console = Console(file=io.StringIO(), width=80)
    with Display(14, console) as display:
        display.search_started(10, "testpmd-macswap", SIZES[2])
        display.search_observer()(LONG_PROGRESS)
        display.search_ended(outcome())
    assert text(console) == f"[10/14] testpmd-macswap IMIX\n{outcome_line(outcome())}\n"


def test_what_a_dut_calls_itself_is_not_taken_for_markup():
    console = terminal()
    with Display(1, console) as display:
        display.search_ended(outcome(dut="[bold]router[/bold]"))
    assert "[bold]router[/bold]" in text(console)


def test_a_brief_display_shows_results_alone_and_the_time_that_all_of_it_takes():
    console, live = Console(file=io.StringIO(), width=80), terminal()
    for each in (console, live):
        with Display(14, each, brief=True) as display:
            display.search_started(1, "testpmd-macswap", SIZES[0])
            display.search_observer()(LONG_PROGRESS)
            display.search_ended(outcome())
    assert text(console) == f"{outcome_line(outcome())}\n"
    # 14 searches of 1234 s
    assert "[1/14] testpmd-macswap 64 B: 148.810 Mpps tried; about 288 min left" in text(live)
