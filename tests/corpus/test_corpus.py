"""The public cases are well formed, and the doctor is right as often as it was, or more often."""

import re

import pytest

from corpus.public_cases import FALSE, HOSTS, MISSED, PARTLY, RIGHT, SLUGS, Case, cases, judged
from corpus.public_hosts import MAKERS
from wirespeed.model.finding import Severity

LEAST_RIGHT = 190
MOST_FALSE = 0
"""What was reached: a case that is mended raises the one or lowers the other."""
CERTAIN = ("confirmed", "maintainer", "inferred")
TRAPS = ("", "healthy", "not the network", "cannot tell")


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_public_case_is_said_with_where_it_was_found_and_what_is_right(case: Case):
    told = case.told
    assert re.match(r"https://\S+$", told["found_at"])
    assert told["certainty"] in CERTAIN and told["trap"] in TRAPS
    assert told["first"] in (RIGHT, PARTLY, MISSED, FALSE)
    assert told.get("open") in (None, PARTLY, MISSED, FALSE)
    assert told["vendor"] in ("mellanox", "other") and told["host"] in HOSTS
    assert len(told["answer"]) > 40 and told["title"]
    assert bool(told["cause"]) != bool(told["trap"]), "a trap has no cause, all else has one"
    assert {*told["cause"], *told.get("also", []), *told.get("may", [])} <= SLUGS
    areas = {slug.partition(".")[0] for slug in SLUGS}
    meant = {text for text in told.get("not", []) if text.partition(".")[0] in areas}
    assert meant <= SLUGS, "a misspelt rule is never found, so never false"


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_public_case_is_judged_as_it_is_recorded(case: Case):
    answer = case.answer()
    assert not answer.faults
    assert judged(case, answer) == case.recorded, "better than `open`: take it out, or set it"


def test_few_public_cases_are_open():
    told = [case.recorded for case in cases()]
    assert told.count(RIGHT) >= LEAST_RIGHT
    assert told.count(FALSE) <= MOST_FALSE


def test_many_public_cases_are_traps_or_of_other_makers():
    count = len(cases())
    assert sum(case.told["trap"] != "" for case in cases()) * 3 >= count
    assert sum(case.told["vendor"] == "other" for case in cases()) * 3 >= count


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        *(("one_card", {"driver": driver}) for driver in MAKERS),
        ("gcp", {}),
        ("ovs_dpdk", {}),
        ("windows", {}),
        ("esxi", {}),
    ],
)
def test_the_host_that_cases_are_made_of_is_healthy(name: str, parts: dict[str, str]):
    answer = Case(name, {"host": name, "parts": parts}).answer()
    assert [f.rule for f in answer.findings if f.severity is not Severity.NOTE] == []


@pytest.mark.rare
def test_breaking_any_rule_that_a_case_expects_lowers_the_score():
    right = [case for case in cases() if case.told["cause"] and case.recorded == RIGHT]
    for case in right:
        without = case.answer(case.told["cause"])
        assert judged(case, without) != RIGHT, case.name
