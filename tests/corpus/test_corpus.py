"""The public cases are well formed, and the doctor is right as often as it was, or more often."""

import re

import pytest

from corpus.public_cases import FALSE, HOSTS, MISSED, PARTLY, RIGHT, Case, cases, judged
from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Severity
from wirespeed.model.question import Question

LEAST_RIGHT = 0.95
CERTAIN = ("confirmed", "maintainer", "inferred")
TRAPS = ("", "healthy", "not the network", "cannot tell")
SLUGS = {rule.slug for rule in rules()}
OUTCOMES: dict[str, str] = {}


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_public_case_is_said_with_where_it_was_found_and_what_is_right(case: Case):
    told = case.told
    assert re.match(r"https://\S+$", told["found_at"])
    assert told["certainty"] in CERTAIN and told["trap"] in TRAPS
    assert told["first"] in (RIGHT, PARTLY, MISSED, FALSE)
    assert told["vendor"] in ("mellanox", "other") and told["host"] in HOSTS
    assert len(told["answer"]) > 40 and told["title"]
    assert bool(told["cause"]) != bool(told["trap"]), "a trap has no cause, all else has one"
    assert {*told["cause"], *told.get("also", []), *told.get("may", [])} <= SLUGS


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_nothing_false_is_said_of_a_public_case(case: Case):
    answer = case.answer()
    assert not answer.faults
    OUTCOMES[case.name] = judged(case, answer)
    assert OUTCOMES[case.name] != FALSE


def test_the_doctor_is_right_on_the_public_cases():
    told = [judged(case, case.answer()) for case in cases()]
    assert told.count(RIGHT) >= LEAST_RIGHT * len(told)


@pytest.mark.parametrize("name", [n for n in HOSTS if n.startswith("one_card")])
def test_the_host_that_cases_are_made_of_is_healthy(name: str):
    from corpus.public_hosts import MAKERS
    from described.host import capture_of

    for driver in MAKERS:
        text = capture_of(HOSTS[name](driver))  # type: ignore[arg-type]
        answer = diagnose(HostFacts("host", parse_capture(text, driver)), Question())
        assert [f.rule for f in answer.findings if f.severity is not Severity.NOTE] == [], driver


@pytest.mark.rare
def test_breaking_any_rule_that_a_case_expects_lowers_the_score():
    expected = {slug: case for case in cases() for slug in case.told["cause"]}
    for slug, case in expected.items():
        facts = HostFacts(case.name, parse_capture(case.capture, case.name))
        without = [rule for rule in rules() if rule.slug not in case.told["cause"]]
        assert judged(case, diagnose(facts, case.question, without)) != RIGHT, slug
