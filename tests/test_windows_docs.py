"""docs/windows.md: what it names is there."""

import re
from pathlib import Path

from wirespeed.catalog import rules
from wirespeed.commands.capture import capture
from wirespeed.commands.doctor import doctor
from wirespeed.commands.remedy import remedy

PAGE = (Path(__file__).parent.parent / "docs/windows.md").read_text()


def test_every_rule_about_windows_is_on_the_page_and_no_other():
    ours = {rule.slug for rule in rules() if rule.slug.startswith(("windows.", "wsl."))}
    slugs = set(re.findall(r"`((?:windows|wsl)\.\w+)`", PAGE))
    assert slugs == ours


def test_every_option_on_the_page_is_there():
    commands = (doctor, capture, remedy)
    options = {name for command in commands for p in command.params for name in p.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", PAGE)) - {"--shutdown"} <= options


def test_it_says_that_nothing_of_it_was_proven_on_hardware():
    assert PAGE.split("\n\n")[1].startswith("*Not proven on hardware.*")
