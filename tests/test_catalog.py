"""A file in its folder is all that a new fact or rule needs."""

import re
from pathlib import Path
from typing import get_args

import wirespeed
from wirespeed.catalog import accesses, approaches, facts, platform_of_rule, platforms, rules
from wirespeed.model.fact import Fact
from wirespeed.model.spec.members import Member

SOURCE = Path(wirespeed.__file__).parent


def test_every_file_with_a_rule_is_found_by_its_slug():
    files = [*SOURCE.glob("rules/[!_]*.py"), *SOURCE.glob("platforms/*/rules/[!_]*.py")]
    holding = {path.stem for path in files if "RULE = " in path.read_text()}
    assert {rule.slug.replace(".", "_") for rule in rules()} == holding
    assert [rule.slug for rule in rules()] == sorted(rule.slug for rule in rules())


def test_every_folder_of_platforms_has_its_platform_and_one_of_them_is_usual():
    files = list((SOURCE / "platforms").glob("*/*.py"))
    folders = {file.parent.name for file in files if file.name == "platform.py"}
    assert len(platforms()) == len({one.name for one in platforms()}) == len(folders)
    assert folders == {file.parent.name for file in files if file.name == "access.py"}
    assert [access.name for access in accesses()] == [one.name for one in platforms()]
    assert [one.name for one in platforms() if one.is_usual] == [platforms()[0].name] == ["Linux"]


def test_a_rule_is_about_the_platform_of_its_folder():
    of = {rule.slug: platform_of_rule(rule).name for rule in rules()}
    assert of["esxi.no_vfs"] == "ESXi" and of["windows.sriov_off"] == "Windows"
    assert of["windows.far_end_set_unlike"] == "a switch" and of["mtu.larger_above"] == "Linux"


def test_every_approach_of_a_spec_is_found():
    members = get_args(get_args(Member)[0])
    assert {one.spec for one in approaches().values()} == set(members)
    assert len(approaches()) == len(members)


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
    assert not {title for title in titles.values() if re.match(r"(A|An|The) ", title)}
    small = {title for title in titles.values() if title[0].islower()}
    assert not {title for title in small if not title.startswith(AS_WRITTEN)}
    assert len(set(titles.values())) == len(titles)


def test_every_fact_is_found_once_and_has_a_script():
    assert len(set(facts())) == len(facts())
    for fact in facts():
        assert issubclass(fact, Fact)
        assert isinstance(fact.script, str), fact.__name__
