"""Verdicts on a flow whose port was away for 10 s; 1000 packets are due a second."""

from dataclasses import replace
from typing import Any

import pytest

from wirespeed.measure.network.failover_verdict import (
    PHASES,
    Carried,
    Heard,
    NoAccountError,
    Phase,
    Sent,
    judge,
    parse_heard,
    parse_sent,
)
from wirespeed.model.network_trial import FailoverVerdict

PPS = 1000
STEADY = Phase(1000, 1000, 2, 1, 0)
OUT_300_MS = Phase(10_000, 9_700, 300, 1, 300)
QUIET = Phase(10_000, 10_000, 2, 1, 0)
DEAD = Phase(10_000, 3, 9_997, 9_997, 0)
SENT = Sent(packets=21_500, refused=0, longest_pause_ms=2, duration_ms=21_500)
MOVED = Carried("net0p0", "net0p1", "net0p1")


def heard(before: Phase = STEADY, away: Phase = OUT_300_MS, back: Phase = QUIET) -> Heard:
    phases = dict(zip(PHASES, (STEADY, before, away, back, STEADY), strict=True))
    return Heard(21_200, duplicates=0, reordered=0, overflowed=0, phases=phases)


def verdict(
    of: Heard, carried: Carried = MOVED, sent: Sent = SENT, member: str = "net0p0"
) -> FailoverVerdict:
    return judge(PPS, sent, of, carried, member)[0]


def test_a_flow_that_goes_on_over_the_other_port_and_after_survived():
    assert judge(PPS, SENT, heard(), MOVED, "net0p0") == (FailoverVerdict.SURVIVED, "")


def test_a_flow_that_stops_while_the_port_is_away_is_lost():
    assert verdict(heard(away=DEAD)) is FailoverVerdict.LOST
    found, what = judge(PPS, SENT, heard(away=DEAD, back=DEAD), MOVED, "net0p0")
    assert found is FailoverVerdict.LOST
    assert what == "nor did it after the port was back"


def test_a_flow_of_which_nothing_arrives_at_all_may_be_dropped_by_a_firewall():
    silent = Phase(10_000, 0, 10_000, 10_000, 0)
    none = replace(heard(silent, silent, silent), received=0)
    found, what = judge(PPS, SENT, none, MOVED, "net0p0")
    assert found is FailoverVerdict.INVALID and "firewall" in what
    # Some arrived later: it is none.
    found, what = judge(PPS, SENT, heard(before=silent), MOVED, "net0p0")
    assert found is FailoverVerdict.INVALID and "firewall" not in what


def test_a_flow_that_stops_when_the_port_is_back_has_not_returned():
    assert verdict(heard(back=DEAD)) is FailoverVerdict.NOT_RETURNED


def test_a_port_that_did_not_carry_it_shows_nothing():
    stayed = Carried("net0p1", "net0p1", "net0p1")
    assert verdict(heard(away=QUIET), stayed) is FailoverVerdict.NOT_TOUCHED


def test_a_port_that_did_not_carry_it_shows_nothing_though_the_flow_paused():
    """The flow of a bond by LACP stays on its port; a short silence there is no fail-over."""
    stayed = Carried("net0p1", "net0p1", "net0p1")
    found, why = judge(PPS, SENT, heard(), stayed, "net0p0")
    assert found is FailoverVerdict.NOT_TOUCHED
    assert why == "net0p1 carried it, with a silence of 300 ms"


def test_a_port_that_goes_on_carrying_it_was_not_taken_away_from_the_guest():
    # So it is where a PF that is set down leaves its VFs alone.
    stayed = Carried("net0p0", "net0p0", "net0p0")
    found, what = judge(PPS, SENT, heard(away=QUIET), stayed, "net0p0")
    assert found is FailoverVerdict.NOT_TOUCHED
    assert what == "net0p0 went on carrying it"


def test_a_change_of_port_without_a_silence_is_the_best_of_fail_overs():
    assert verdict(heard(away=QUIET)) is FailoverVerdict.SURVIVED


def test_a_flow_that_stops_and_goes_on_over_the_same_port_is_told_so():
    stayed = Carried("net0p0", "net0p0", "net0p0")
    found, what = judge(PPS, SENT, heard(), stayed, "net0p0")
    assert found is FailoverVerdict.SURVIVED
    assert "net0p0 stayed active" in what


def test_nothing_is_valid_without_a_flow_before():
    assert verdict(heard(before=replace(STEADY, received=0))) is FailoverVerdict.INVALID


@pytest.mark.parametrize(
    "sent",
    [
        replace(SENT, packets=20_000),
        replace(SENT, longest_pause_ms=2_600),
        replace(SENT, packets=21_199, duration_ms=21_199),
    ],
)
def test_a_sender_that_did_not_keep_its_pace_makes_a_trial_invalid(sent: Sent):
    assert verdict(heard(), sent=sent) is FailoverVerdict.INVALID


def test_a_pause_of_the_sender_may_be_the_outage_unless_packets_were_lost_in_a_row():
    paused = replace(SENT, longest_pause_ms=290)
    assert verdict(heard(), sent=paused) is FailoverVerdict.SURVIVED
    none_lost = heard(away=replace(OUT_300_MS, longest_skip=0))
    assert verdict(none_lost, sent=paused) is FailoverVerdict.INVALID


def test_a_receiver_that_was_too_slow_makes_a_trial_invalid():
    assert verdict(replace(heard(), overflowed=1)) is FailoverVerdict.INVALID


def told(**more: object) -> dict[str, Any]:
    phases = [
        {
            "phase": phase, "duration_ns": 5_000_000, "received": 5, "longest_skip": 1,
            "longest_silence_ns": 2_500_000, "last_silence_ns": 1_000_000,
        }
        for phase in PHASES
    ]  # fmt: skip
    return {
        "phases": phases, "received": 25, "duplicates": 0, "reordered": 0, "overflowed": 0, **more
    }  # fmt: skip


def test_accounts_are_read_in_milliseconds():
    phase = parse_heard(told()).phases["away"]
    assert phase == Phase(5.0, 5, 2.5, 1.0, 1)
    sent = {"sent": 9, "refused": 1, "longest_pause_ns": 1_500_000, "duration_ns": 9_000_000}
    assert parse_sent(sent) == Sent(9, 1, 1.5, 9.0)


@pytest.mark.parametrize(
    "account",
    [
        None,
        [],
        told(received=-1),
        told(received="5"),
        told(phases=[]),
        told(phases=told()["phases"][1:]),
        told(phases=[{"phase": "other"}]),
        told(phases="x"),
    ],
)
def test_an_account_that_makes_no_sense_is_refused(account: object):
    with pytest.raises(NoAccountError):
        parse_heard(account)
