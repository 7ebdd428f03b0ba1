"""Links of many hosts that went down in one second are one cause; by chance there is none."""

import random

import pytest
from fleets import host, rack_of

from wirespeed.facts.link_events import LinkDown, LinkLog
from wirespeed.fleet.link_events import find_link_events
from wirespeed.fleet.records import Fleet, FleetHost, HostState, InventoryHost, host_of_answer
from wirespeed.model.finding import Unanswered
from wirespeed.model.question import Question
from wirespeed.report.fleet_text import fleet_lines

DAY = 86_400.0
MONTH = 30 * DAY
AT = 1_767_268_807.0
"""2026-01-01 12:00:07 UTC."""
RACK = 36


def one(number: int, *downs: float, log_s: float = MONTH) -> FleetHost:
    rack = rack_of(number, RACK)
    traits = {"rack": rack, "switch": f"sw-{rack}", "kernel": f"6.{number % 3}"}
    return host(f"n{number:03}", (), traits, downs=downs, log_s=log_s)


def fleet(hosts: list[FleetHost]) -> Fleet:
    return Fleet(
        at="2026-01-02T00:00:00+00:00",
        source="hosts.ini",
        question=Question(),
        hosts=tuple(hosts),
        link_events=find_link_events(hosts),
    )


def flapped(count: int = 400) -> list[FleetHost]:
    """Rack r02 in one second, and a cable of another host all the time."""
    hosts = [one(n, AT + (n % 10) / 10) if rack_of(n, RACK) == "r02" else one(n)
             for n in range(count)]  # fmt: skip
    hosts[7] = one(7, *(AT - 5025 + 50 * n for n in range(200)))
    return hosts


def test_fleet_36_that_flapped_in_one_second_are_not_36_cables():
    (event,) = find_link_events(flapped())
    assert len(event.hosts) == RACK and len(event.links) == RACK
    assert event.at == "2026-01-01T12:00:07+00:00"
    assert event.within_s == pytest.approx(0.9)
    assert event.p < 1e-50
    rack, switch = event.common
    assert (rack.trait, rack.value) == ("rack", "r02")
    assert (switch.trait, switch.value) == ("switch", "sw-r02")
    assert (rack.affected, rack.having, rack.elsewhere, rack.others) == (36, 36, 0, 364)


def test_fleet_the_answer_says_it_before_the_causes():
    said = " ".join(" ".join(line.text for line in fleet_lines(fleet(flapped()))).split())
    assert (
        "36 of 400 hosts lost 36 links within 1 s, 2026-01-01 12:00:07 UTC: one cause, not 36 "
        "cables in common: rack r02 (36 of its 36 hosts; 0 of 364 others); switch sw-r02"
    ) in said
    assert "n072 eth0, n073 eth0" in said


def test_fleet_links_that_fail_by_themselves_are_no_event():
    chance = random.Random(17)
    for _ in range(5):
        hosts = [
            one(n, *(AT - chance.uniform(0, MONTH) for _ in range(10))) for n in range(1000)
        ]  # fmt: skip
        # 10,000 in a month: by chance two hosts are often together, and three sometimes.
        assert find_link_events(hosts) == ()


def test_fleet_hosts_that_always_flap_say_nothing_by_being_together():
    hosts = [one(n) for n in range(97)]
    hosts += [one(n, *(AT + k for k in range(200)), log_s=200.0) for n in range(97, 100)]
    assert find_link_events(hosts) == ()


def test_fleet_two_racks_at_two_times_are_two_events_the_latest_first():
    hosts = [
        one(n, AT if rack_of(n, RACK) == "r01" else AT + 60)
        if rack_of(n, RACK) in ("r01", "r03")
        else one(n)
        for n in range(400)
    ]
    later, earlier = find_link_events(hosts)
    assert later.common[0].value == "r03" and earlier.common[0].value == "r01"


def test_fleet_the_whole_fleet_at_once_shares_nothing_that_others_lack():
    hosts = [one(n, AT) for n in range(36)]
    (event,) = find_link_events(hosts)
    assert len(event.hosts) == 36 and event.common == ()


def drifting(number: int, at: float, within_s: float) -> FleetHost:
    host = one(number, at)
    (down,) = host.link_downs
    return host.model_copy(update={"link_downs": (down.model_copy(update={"within_s": within_s}),)})


def test_fleet_times_that_may_be_off_are_together_where_they_may_be():
    rest = [one(n) for n in range(10, 100)]
    apart = [drifting(n, AT + 5 * n, 0.5) for n in range(5)]
    assert find_link_events(apart + rest) == ()
    (event,) = find_link_events([drifting(n, AT + 5 * n, 15.0) for n in range(5)] + rest)
    assert event.within_s == pytest.approx(20)
    # 5 of 5 links in a month, each in a window of 20 s with either side: Poisson's tail at 5.
    mean = 5 * 2 * 20 / MONTH
    assert event.p == pytest.approx(MONTH / 20 * mean**5 / 120, rel=1e-3, abs=0)


@pytest.mark.parametrize(("apart_s", "events"), [(0.45, 1), (0.6, 0)])
def test_fleet_a_second_is_what_makes_links_go_down_at_once(apart_s: float, events: int):
    exact = [drifting(n, AT + apart_s * n, 0.0) for n in range(3)]
    found = find_link_events([*exact, *(one(n) for n in range(10, 100))])
    assert len(found) == events
    if found:
        assert found[0].p == pytest.approx(MONTH * (3 * 2 / MONTH) ** 3 / 6, rel=1e-3, abs=0)


def test_fleet_a_host_with_two_links_down_counts_once():
    def both(number: int) -> tuple[float, ...]:
        # Twenty links in a month, two by two; no two hosts together.
        return tuple(AT - 1000 - (number + 1000 * (k // 2)) * 129 for k in range(18))

    hosts = [one(n, *both(n), *((AT, AT) if n < 3 else ())) for n in range(1000)]
    # Three together by chance are to be expected of a thousand such hosts; six would not be.
    assert find_link_events(hosts) == ()
    few = [one(n, AT, AT, AT) if n < 2 else one(n) for n in range(100)]
    assert find_link_events(few) == ()


def test_fleet_a_host_whose_log_has_no_length_says_nothing_and_lacks_what_others_share():
    hosts = [host.model_copy(update={"log_s": 0.0}) if n % 10 == 9 else host
             for n, host in enumerate(flapped())]  # fmt: skip
    (event,) = find_link_events(hosts)
    silent = [n for n in range(400) if rack_of(n, RACK) == "r02" and n % 10 == 9]
    assert len(event.hosts) == RACK - len(silent) and not {f"n{n:03}" for n in silent} & set(
        event.hosts
    )
    assert (event.common[0].having, event.common[0].others) == (36, 364)


def test_fleet_a_few_hosts_that_flap_all_the_time_hide_no_event():
    hosts = flapped(200)
    # In every window, and at most one host each, however often.
    for n in range(10):
        hosts[n] = one(n, *(AT - 100 + k / 5 for k in range(1000)), log_s=200.0)
    events = find_link_events(hosts)
    assert [len(event.hosts) for event in events] == [RACK + 10]


def test_fleet_two_hosts_are_too_few_and_a_host_without_an_answer_counts_not():
    rest = [one(n) for n in range(10, 100)]
    assert find_link_events([one(0, AT), one(1, AT), *rest]) == ()
    lost = [one(n, AT).model_copy(update={"state": HostState.NOT_REACHED}) for n in range(9)]
    assert find_link_events([*lost, *rest]) == ()


def test_fleet_the_record_of_a_host_has_what_its_log_says():
    log = LinkLog((LinkDown("eth0", AT, 0.5),), MONTH)
    silent = Unanswered(host="a", what="x", found="y", so="z", next="n", bad_input=False)
    assert host_of_answer(InventoryHost(name="a", reach="a"), silent, {}, "", log).log_s == 0
