"""README's first screen, and what CONTRIBUTING says of additions: each is made in two places."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from wirespeed.commands.doctor import doctor

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
SCREEN = 24
"""Lines of a terminal."""


def test_the_first_paragraph_has_at_most_five_lines_and_says_for_whom():
    first = README.split("\n\n")[1]
    assert first.count("\n") < 5
    assert "for administrators" in first.splitlines()[0]


def test_the_answer_on_the_first_screen_is_what_doctor_prints(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    block = re.search(r"^    \$ wirespeed doctor (\S+)\n((?:    .*\n)+)", README, re.M)
    assert block
    assert README.count("\n", 0, block.end()) < SCREEN
    printed = [line.rstrip() for line in CliRunner().invoke(doctor, [block[1]]).output.splitlines()]
    wanted = [line[4:].rstrip() for line in block[2].splitlines()]
    assert "[…]" in wanted
    # In this order: what is left out is marked.
    rest = iter(printed)
    assert [line for line in wanted if line != "[…]" and line not in rest] == []


ADDED = {"rule", "fact", "step", "approach", "platform", "page"}


def test_each_addition_names_at_most_two_places_and_they_exist():
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    found = dict(re.findall(r"^## To add an? (\w+)\n\nPlaces: ((?:.+\n)+)", contributing, re.M))
    assert found.keys() == ADDED
    for name, places in found.items():
        paths = re.findall(r"`((?:src|tests)/[^`]+)`", places)
        assert 1 <= len(paths) <= 2, name
        assert all((ROOT / path).exists() for path in paths), name
