"""A file in its folder is all that a new fact or rule needs."""

import re
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
        assert len(rule.why) >= 40, rule.slug
        assert rule.source, rule.slug


AS_WRITTEN = ("irqbalance",)
"""Names that begin small wherever they stand."""
RIDDLES = re.compile(r"\b(nobody|somebody|anew|afresh|dear(er)?|mend(ed)?|be had|is no)\b", re.I)


def test_every_title_is_the_condition_in_the_words_of_the_field():
    titles = {rule.slug: rule.title for rule in rules()}
    assert not {slug: title for slug, title in titles.items() if len(title) > 60}
    assert not {slug: title for slug, title in titles.items() if RIDDLES.search(title)}
    small = {title for title in titles.values() if title[0].islower()}
    assert not {title for title in small if not title.startswith(AS_WRITTEN)}
    assert len(set(titles.values())) == len(titles)


def test_every_fact_is_found_once_and_has_a_script():
    assert len(set(facts())) == len(facts())
    for fact in facts():
        assert issubclass(fact, Fact)
        assert isinstance(fact.script, str), fact.__name__
