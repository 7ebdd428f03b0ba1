"""Findings of many hosts: one cause where hosts share something, and none by chance alone."""

import random
from math import comb

import pytest
from fleets import TITLES, finding, host, rack_of

from wirespeed.fleet.causes import evidence_class, find_causes, tail
from wirespeed.fleet.records import HostState
from wirespeed.model.finding import Severity

NAMES = [f"n{number:03}" for number in range(400)]


def traits(number: int) -> dict[str, str]:
    return {
        "rack": rack_of(number),
        "switch": f"sw-{rack_of(number)}",
        "kernel": "6.12",
        "cable": f"part-{number % 5}",
    }


def test_a_rack_whose_hosts_all_have_a_finding_is_one_cause():
    hosts = [
        host(name, [finding()] if rack_of(i) == "r03" else [], traits(i))
        for i, name in enumerate(NAMES)
    ]
    (cause,) = find_causes(hosts, TITLES)
    assert cause.hosts == tuple(NAMES[60:80])
    assert {(one.trait, one.value) for one in cause.common} == {
        ("rack", "r03"),
        ("switch", "sw-r03"),
    }
    for one in cause.common:
        assert (one.affected, one.having, one.elsewhere, one.others) == (20, 20, 0, 380)


def test_two_reasons_of_one_rule_are_two_causes():
    hosts = [
        host(name, [finding()] if rack_of(i) == "r03" or i % 5 == 2 else [], traits(i))
        for i, name in enumerate(NAMES)
    ]
    by_cable, by_rack = find_causes(hosts, TITLES)
    assert [one.value for one in by_cable.common] == ["part-2"]
    assert len(by_cable.hosts) == 80
    assert {one.value for one in by_rack.common} == {"r03", "sw-r03"}
    # Those of the rack whose cable explains them are counted there, and once.
    assert len(by_rack.hosts) == 16
    assert not set(by_cable.hosts) & set(by_rack.hosts)


def test_hosts_that_are_affected_by_chance_share_nothing():
    chosen = random.Random(17).sample(range(400), 30)
    hosts = [
        host(name, [finding()] if i in chosen else [], traits(i)) for i, name in enumerate(NAMES)
    ]
    (cause,) = find_causes(hosts, TITLES)
    assert cause.common == ()
    assert len(cause.hosts) == 30


def test_what_only_half_of_its_hosts_suffer_from_is_not_named():
    hosts = [
        host(name, [finding()] if i % 10 == 2 else [], traits(i)) for i, name in enumerate(NAMES)
    ]
    # By far more than chance: 40 of the 80 hosts with that cable, and no other.
    (cause,) = find_causes(hosts, TITLES)
    assert cause.common == ()


def test_what_all_hosts_have_explains_nothing():
    hosts = [host(name, [finding()], traits(i)) for i, name in enumerate(NAMES)]
    (cause,) = find_causes(hosts, TITLES)
    assert len(cause.hosts) == 400
    assert cause.common == ()


def test_a_host_that_was_not_reached_counts_for_nothing():
    hosts = [
        host(name, [finding()] if rack_of(i) == "r03" else [], traits(i))
        for i, name in enumerate(NAMES)
    ]
    hosts += [host(f"x{i}", (), {"rack": "r03"}, state=HostState.NOT_REACHED) for i in range(10)]
    (cause,) = find_causes(hosts, TITLES)
    found = {(one.trait, one.having, one.others) for one in cause.common}
    assert found == {("rack", 20, 380), ("switch", 20, 380)}


def test_evidence_that_differs_in_numbers_and_names_alone_is_of_one_class():
    first = finding(found="x4 at 16 GT/s on 0000:3b:00.0").model_copy(update={"where": "ens1f0"})
    second = finding(found="x8 at 8 GT/s on 0000:af:00.1").model_copy(update={"where": "eth7"})
    other = finding(found="the slot has no link")
    assert evidence_class(first) == evidence_class(second) != evidence_class(other)


def test_a_name_without_a_number_is_a_name_too():
    found = [finding(found=f"FEC is off on {netdev}").model_copy(update={"where": netdev})
             for netdev in ("storage", "public")]  # fmt: skip
    assert evidence_class(found[0]) == evidence_class(found[1])


def test_two_readings_of_one_rule_are_two_causes_and_the_worst_of_one_counts():
    note = finding().model_copy(update={"severity": Severity.NOTE})
    hosts = [
        host("a", [note]), host("b", [finding()]), host("c", [finding(found="no FEC is known")]),
    ]  # fmt: skip
    first, second = find_causes(hosts, TITLES)
    assert (first.hosts, first.severity) == (("a", "b"), Severity.FAULT)
    assert second.hosts == ("c",)


def test_of_two_parts_of_one_size_the_one_that_explains_all_of_its_hosts_comes_first():
    # A rack of 20, all affected; a cable of 22 hosts, 20 of them affected, half of these the same.
    def own(number: int) -> dict[str, str]:
        cable = {"cable": "c"} if 10 <= number < 32 else {}
        return {"rack": "r0" if number < 20 else "r1", **cable}

    hosts = [host(f"n{i:03}", [finding()] if i < 30 else [], own(i)) for i in range(400)]
    by_rack, by_cable = find_causes(hosts, TITLES)
    assert [one.value for one in by_rack.common] == ["r0"] and len(by_rack.hosts) == 20
    assert [one.value for one in by_cable.common] == ["c"] and len(by_cable.hosts) == 10


@pytest.mark.timeout(20)
def test_affected_hosts_outside_what_the_others_share_are_a_cause_of_their_own():
    hosts = [
        host(name, [finding()] if rack_of(i) == "r03" or i in (5, 150) else [], traits(i))
        for i, name in enumerate(NAMES)
    ]
    rack, rest = find_causes(hosts, TITLES)
    assert (len(rack.hosts), rack.common[0].elsewhere) == (20, 2)
    assert (rest.hosts, rest.common) == (("n005", "n150"), ())


@pytest.mark.parametrize(("racks", "is_named"), [(2, True), (10, False)])
def test_what_is_shared_is_held_against_all_that_was_compared(racks: int, is_named: bool):
    # 3 of 30 hosts are affected, and all in one rack of 3: 1 in 4,060 by chance, for each of the
    # racks that it could have been.
    def rack(number: int) -> str:
        return "r0" if number < 3 else f"r{1 + number % (racks - 1)}"

    hosts = [host(f"n{i}", [finding()] if i < 3 else [], {"rack": rack(i)}) for i in range(30)]
    (cause,) = find_causes(hosts, TITLES)
    assert bool(cause.common) == is_named


def test_most_hosts_come_first_and_the_price_is_of_each_host_once():
    hosts = [
        host("a", [finding("link.down"), finding(cost_pps=2.0), finding(cost_pps=5.0)]),
        host("b", [finding(cost_pps=3.0)]),
    ]
    first, second = find_causes(hosts, TITLES)
    assert (first.rule, first.cost_pps, first.title) == ("link.fec_off", 8.0, "FEC off")
    assert second.rule == "link.down"


@pytest.mark.parametrize(("of", "affected", "drawn", "hit"), [(20, 5, 5, 3), (50, 10, 7, 7)])
def test_the_tail_is_that_of_the_hypergeometric_distribution(
    of: int, affected: int, drawn: int, hit: int
):
    ways = sum(
        comb(affected, k) * comb(of - affected, drawn - k)
        for k in range(hit, min(affected, drawn) + 1)
    )
    assert tail(of, affected, drawn, hit) == pytest.approx(ways / comb(of, drawn))


def test_causes_of_hosts_do_not_count_what_ends_with_them():
    cause, effect = finding(), finding("link.down", "no link")
    ends = effect.model_copy(update={"ends_with": cause.rule})
    hosts = [host("a", [cause, ends]), host("b", [cause, ends])]
    assert [one.rule for one in find_causes(hosts, TITLES)] == [cause.rule]
    # On one host it stands alone: what the hosts share may tell its reason.
    named = {one.rule: one.hosts for one in find_causes([*hosts, host("c", [effect])], TITLES)}
    assert named == {"link.fec_off": ("a", "b"), "link.down": ("a", "b", "c")}
