"""What a record refuses: figures that contradict one another."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from wirespeed.model.frame_mix import FrameMix, FrameShare
from wirespeed.model.trial import End, Fate, Ledger, Limit, Outcome, record_adapter

LEDGER = Ledger(offered_frames=10, received_frames=10, lost=(), unexplained_frames=0)


def outcome(
    throughput_pps: float | None = 1e6,
    confirmed_trial: int | None = 7,
    confirmed_seconds: float = 2,
    busy_cycles_per_packet: float | None = None,
    cycles_source: Literal["dut", "overload"] | None = None,
) -> Outcome:
    return Outcome(
        search=1,
        dut="testpmd macswap",
        mix=FrameMix(shares=(FrameShare(frame_bytes=64),)),
        method="rfc2544",
        goal_width=0.005,
        found_load_pps=1e6,
        upper_load_pps=None,
        throughput_pps=throughput_pps,
        confirmed_seconds=confirmed_seconds,
        confirmed_trial=confirmed_trial,
        lost_frames=0,
        trials=7,
        invalid_trials=0,
        seconds=8,
        verdict="width met",
        limit=Limit(by="cannot tell", evidence=()),
        ledger=LEDGER,
        ledger_trial=7,
        busy_cycles_per_packet=busy_cycles_per_packet,
        cycles_source=cycles_source,
    )


@given(
    received=st.integers(0, 10**9),
    lost=st.lists(st.integers(-100, 10**6), max_size=4),
    unexplained=st.integers(-(10**6), 10**6),
    off=st.integers(-3, 3),
)
def test_a_ledger_that_does_not_add_up_is_refused(
    received: int, lost: list[int], unexplained: int, off: int
) -> None:
    fates = tuple(Fate(place=f"place {n}", frames=f, counter="c") for n, f in enumerate(lost))
    offered = max(0, received + sum(lost) + unexplained + off)

    def ledger() -> Ledger:
        return Ledger(
            offered_frames=offered,
            received_frames=received,
            lost=fates,
            unexplained_frames=unexplained,
        )

    if offered == received + sum(lost) + unexplained:
        assert ledger().offered_frames == offered
    else:
        with pytest.raises(ValidationError, match=f"sent {offered}, but received {received}"):
            ledger()


@pytest.mark.parametrize("throughput", [None, 1e6])
@pytest.mark.parametrize("trial", [None, 7])
@pytest.mark.parametrize("seconds", [0.0, 2.0])
def test_throughput_is_claimed_only_with_its_confirming_trial(
    throughput: float | None, trial: int | None, seconds: float
) -> None:
    if (throughput, trial, seconds) in {(None, None, 0.0), (1e6, 7, 2.0)}:
        assert outcome(throughput, trial, seconds).throughput_pps == throughput
    else:
        with pytest.raises(ValidationError, match="go together"):
            outcome(throughput, trial, seconds)


def test_cycles_per_packet_name_their_source() -> None:
    outcome(busy_cycles_per_packet=148, cycles_source="overload")
    with pytest.raises(ValidationError, match="go together"):
        outcome(busy_cycles_per_packet=148)
    with pytest.raises(ValidationError, match="go together"):
        outcome(cycles_source="dut")


def test_a_run_that_was_not_completed_says_why() -> None:
    with pytest.raises(ValidationError, match="says why"):
        End(finished_at="2024-11-21T08:04:00Z", completed=False, reason="")


def test_a_line_of_the_record_file_is_read_back_by_its_kind() -> None:
    records = (outcome(), End(finished_at="2024-11-21T08:04:00Z", completed=True, reason=""))
    assert tuple(record_adapter.validate_json(r.model_dump_json()) for r in records) == records
