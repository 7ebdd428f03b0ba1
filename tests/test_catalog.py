"""A file in its folder is all that a new fact or rule needs."""

from pathlib import Path

import wirespeed
from wirespeed.catalog import facts, rules
from wirespeed.model.fact import Fact

SOURCE = Path(wirespeed.__file__).parent


def test_every_file_with_a_rule_is_found_by_its_slug():
    files = {path.stem for path in (SOURCE / "rules").glob("[!_]*.py")}
    holding = {name for name in files if "RULE = " in (SOURCE / f"rules/{name}.py").read_text()}
    assert {rule.slug.replace(".", "_") for rule in rules()} == holding
    assert [rule.slug for rule in rules()] == sorted(rule.slug for rule in rules())


def test_every_rule_says_what_it_costs_and_where_that_is_known_from():
    for rule in rules():
        assert len(rule.title) <= 72, rule.slug
        assert len(rule.why) >= 40, rule.slug
        assert rule.source, rule.slug


def test_every_fact_is_found_once_and_has_a_script():
    assert len(set(facts())) == len(facts())
    for fact in facts():
        assert issubclass(fact, Fact)
        assert isinstance(fact.script, str), fact.__name__
