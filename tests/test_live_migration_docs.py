"""docs/live-migration.md and the index: what they name is there, what they show is printed."""

import re
from pathlib import Path

from click.testing import CliRunner

from wirespeed.catalog import rules
from wirespeed.commands.advise import advise
from wirespeed.commands.doctor import doctor
from wirespeed.commands.measure_command import command
from wirespeed.commands.remedy import remedy
from wirespeed.platforms.switch.describe import UNKNOWN

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
PAGE = (DOCS / "live-migration.md").read_text()
CASE = "windows.team_slower_than_smb/present_asked_for_storage_with_rdma"


def shown(start: str) -> list[str]:
    block = re.search(rf"^    {re.escape(start)}.*\n(?:    .*\n)*", PAGE, re.M)
    assert block is not None
    return [line.strip() for line in block[0].splitlines()]


def test_what_the_page_shows_of_the_doctor_is_printed():
    capture = str(HERE / "rules" / "cases" / CASE / "capture.txt")
    said = CliRunner().invoke(doctor, [capture, "--for", "storage"]).output
    for line in shown("1 FAULT windows.team_slower_than_smb"):
        assert line in said, line


def test_what_the_page_shows_of_the_advice_is_printed():
    said = CliRunner().invoke(advise, ["transport", "--ports", "2x10G", "--rdma", "--dcb"]).output
    for line in shown("choice "):
        assert line in said, line


def test_the_advice_that_the_page_names_is_given():
    for line in re.findall(r"`(?:wirespeed )?advise ([^`]+)`", PAGE):
        result = CliRunner().invoke(advise, line.split(), standalone_mode=False)
        assert result.exception is None and result.return_value == 0, line


def test_every_option_and_every_rule_on_the_page_is_there():
    commands = (doctor, remedy, command, *advise.commands.values())
    options = {
        name for one in commands for p in one.params for name in (*p.opts, *p.secondary_opts)
    }
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", PAGE)) <= options
    slugs = {rule.slug for rule in rules()}
    named = set(re.findall(r"windows\.[a-z_]+", PAGE)) - {"windows.md"}
    assert named and named <= slugs


def test_every_page_that_the_index_names_is_there_and_every_page_is_named():
    index = (DOCS / "README.md").read_text()
    named = set(re.findall(r"\(([a-z0-9-]+\.md)", index))
    there = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert named == there


def test_a_question_mark_is_said_to_be_what_is_not_known():
    assert f"it is a `{UNKNOWN}`" in (DOCS / "link-speed.md").read_text()
