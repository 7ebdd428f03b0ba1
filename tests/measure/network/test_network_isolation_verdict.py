"""Verdicts on forged frames: one thing is wrong at a time."""

from typing import Any

import pytest

from wirespeed.measure.network.forged import CONTROL, KINDS
from wirespeed.measure.network.isolation_verdict import (
    Arrival,
    Forging,
    NoAccountError,
    heard_control,
    judge_forged,
    parse_arrivals,
    parse_forging,
)
from wirespeed.model.network_trial import ForgedKind, IsolationVerdict

WANTED = 600
ARP = KINDS.index(ForgedKind.ARP)
HEADERS = "02bb0000000202aa0000000188b5" + "11" * 8
PLACE = 4
HONEST = [
    Arrival("bond0", PLACE, CONTROL, 20, HEADERS, None),
    Arrival("bond0", PLACE + 1, CONTROL, 19, HEADERS, None),
]
"""Before this sender, and after it."""


def forging(left: int = WANTED, **answers: int) -> Forging:
    none = dict.fromkeys(("arp_reply", "arp_request", "echo_reply", "echo_reply_6"), 0)
    return Forging(dict.fromkeys(range(len(KINDS)), left), "", none | answers)


def judged(
    kind: ForgedKind, of: Forging, arrivals: list[Arrival], *, within: bool = False
) -> tuple[IsolationVerdict, int, int, str]:
    return judge_forged(kind, PLACE, WANTED, of, arrivals, within_its_network=within)


def test_guests_are_apart_where_all_left_none_arrived_and_honest_ones_were_heard():
    assert judged(ForgedKind.ARP, forging(), HONEST) == (IsolationVerdict.APART, 0, 0, "")
    assert heard_control(PLACE, HONEST) == 39


def test_one_frame_that_arrives_is_a_leak_and_is_named_by_its_headers():
    arrival = Arrival("net0p1", PLACE, ARP, 1, HEADERS, 40)
    verdict, arrived, _, what = judged(ForgedKind.ARP, forging(), [*HONEST, arrival])
    assert (verdict, arrived) == (IsolationVerdict.LEAKED, 1)
    assert what.startswith(
        "net0p1 heard 02:aa:00:00:00:01 > 02:bb:00:00:00:02, tag 40 taken off: 88:b5:11"
    )


def test_a_leak_of_one_kind_is_none_of_another():
    arrival = Arrival("net0p1", PLACE, ARP, 1, HEADERS, None)
    verdict, *_ = judged(ForgedKind.IPV4, forging(), [*HONEST, arrival])
    assert verdict is IsolationVerdict.APART


def test_a_leak_is_one_even_where_nothing_else_was_shown():
    arrival = Arrival("net0p1", PLACE, ARP, 1, HEADERS, None)
    verdict, *_ = judged(ForgedKind.ARP, forging(left=5), [arrival])
    assert verdict is IsolationVerdict.LEAKED


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("arp_reply", ForgedKind.ARP),
        ("arp_request", ForgedKind.IPV4),
        ("echo_reply", ForgedKind.IPV4),
        ("echo_reply_6", ForgedKind.IPV6_MULTICAST),
    ],
)
def test_an_answer_is_a_leak_though_nothing_was_heard(answer: str, kind: ForgedKind):
    of = forging(**{answer: 3})
    for other in ForgedKind:
        verdict, _, answered, _ = judged(other, of, HONEST)
        assert (verdict is IsolationVerdict.LEAKED) == (other is kind)
        assert answered == (3 if other is kind else 0)


@pytest.mark.parametrize(("missing", "named"), [(PLACE, "before"), (PLACE + 1, "after")])
def test_nothing_is_shown_where_honest_frames_were_not_heard(missing: int, named: str):
    of_others = [Arrival("bond0", place, CONTROL, 20, HEADERS, None) for place in (3, 6)]
    heard = [one for one in HONEST if one.place != missing]
    verdict, *_, what = judged(ForgedKind.ARP, forging(), heard + of_others)
    assert verdict is IsolationVerdict.NOT_SHOWN
    assert named in what


def test_what_another_sender_of_the_same_capture_sent_is_not_counted():
    of_others = [
        Arrival("bond0", place, kind, 7, HEADERS, None)
        for place in (PLACE - 1, PLACE + 1, PLACE + 2)
        for kind in (ARP, KINDS.index(ForgedKind.IPV4))
    ]
    assert judged(ForgedKind.ARP, forging(), HONEST + of_others) == (
        IsolationVerdict.APART, 0, 0, "",
    )  # fmt: skip
    of_next = Arrival("bond0", PLACE + 2, CONTROL, 20, HEADERS, None)
    assert heard_control(PLACE, [*HONEST, of_next]) == 39


def test_nothing_is_shown_where_frames_did_not_leave():
    of = Forging({ARP: WANTED - 1}, "net0p1: Network is down", forging().answers)
    verdict, *_, what = judged(ForgedKind.ARP, of, HONEST)
    assert verdict is IsolationVerdict.NOT_SHOWN
    assert what == "599 of 600 frames left the sender: net0p1: Network is down"
    verdict, *_ = judged(ForgedKind.IPV4, of, HONEST)
    assert verdict is IsolationVerdict.NOT_SHOWN, "of this kind none left"


def test_a_forged_source_that_arrives_in_its_own_network_is_not_enforced():
    number = KINDS.index(ForgedKind.FORGED_SOURCE_MAC)
    arrival = Arrival("bond0", PLACE, number, 200, HEADERS, None)
    kind = ForgedKind.FORGED_SOURCE_MAC
    verdict, arrived, *_ = judged(kind, forging(), [*HONEST, arrival], within=True)
    assert (verdict, arrived) == (IsolationVerdict.NOT_ENFORCED, 200)
    verdict, *_ = judged(kind, forging(), HONEST, within=True)
    assert verdict is IsolationVerdict.APART


LISTENED: dict[str, Any] = {
    "place": 1, "kind": 3, "numbers": 2, "netdev": "bond0", "first": "ab" * 20,
    "taken_off_tci": 0x2028,
}  # fmt: skip


def test_what_the_receiver_tells_is_read():
    (arrival,) = parse_arrivals([LISTENED], frozenset({"bond0"}))
    # The priority bits are none of the VLAN's number.
    assert "tag 40 taken off" in arrival.told()


@pytest.mark.parametrize(
    "told",
    [
        None,
        {},
        [1],
        [LISTENED | {"netdev": "eth7"}],
        [LISTENED | {"numbers": -1}],
        [LISTENED | {"numbers": True}],
        [LISTENED | {"first": "\x1b[2J"}],
        [LISTENED | {"first": None}],
        [LISTENED | {"place": None}],
        [LISTENED | {"taken_off_tci": "x"}],
    ],
)
def test_what_makes_no_sense_of_the_receiver_is_refused(told: object):
    with pytest.raises(NoAccountError):
        parse_arrivals(told, frozenset({"bond0"}))


SENT: dict[str, Any] = {
    "left": {"0": 5}, "refused": {}, "why": "",
    "answers": {"arp_reply": 0, "arp_request": 0, "echo_reply": 1, "echo_reply_6": 0},
}  # fmt: skip


def test_what_the_sender_tells_is_read():
    of = parse_forging(SENT)
    assert of.left == {0: 5}
    assert of.answers["echo_reply"] == 1


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        SENT | {"left": 5},
        SENT | {"left": {"x": 5}},
        SENT | {"left": {"0": "5"}},
        SENT | {"answers": {}},
    ],
)
def test_what_makes_no_sense_of_the_sender_is_refused(told: object):
    with pytest.raises(NoAccountError):
        parse_forging(told)
