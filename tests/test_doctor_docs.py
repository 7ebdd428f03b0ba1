"""docs/doctor.md, README.md: what they show is what is printed; the schema is the code's."""

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from findings_schema import findings_schema
from wirespeed.cli import cli
from wirespeed.commands.doctor import doctor
from wirespeed.model.finding import Severity

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/doctor.md").read_text()
PROMPT = "    $ wirespeed "
LEFT_OUT = "[…]"


def sessions() -> list[tuple[str, list[str]]]:
    """Each command of the pages with the lines that it is said to print."""
    found = []
    pages = (PAGE, (ROOT / "README.md").read_text())
    for text in (text for page in pages for text in page.split(PROMPT)[1:]):
        indented = re.split(r"\n+(?=[^\n ])", text)[0]
        command, *shown = indented.rstrip("\n").split("\n")
        found.append((command, [line.removeprefix("    ") for line in shown]))
    return found


@pytest.mark.parametrize(("command", "shown"), sessions(), ids=lambda value: str(value)[:40])
def test_a_command_prints_what_the_page_shows(
    command: str, shown: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(ROOT)
    printed = CliRunner().invoke(cli, shlex.split(command)).output.splitlines()
    place = 0
    for part in "\n".join(shown).split(f"\n{LEFT_OUT}\n"):
        lines = part.split("\n")
        starts = [n for n in range(place, len(printed)) if printed[n : n + len(lines)] == lines]
        assert starts, part
        place = starts[0] + len(lines)
    assert place == len(printed)


def test_there_is_a_session():
    assert sessions()


def test_every_option_that_the_page_names_is_there():
    options = {name for parameter in doctor.params for name in parameter.opts}
    of_others = {"--script"}
    assert set(re.findall(r"--[a-z][a-z-]*", PAGE)) - of_others <= options


def test_every_severity_is_explained():
    for severity in Severity:
        assert f"*{severity}*" in PAGE


def test_the_schema_is_that_of_the_code():
    kept = (ROOT / "docs/findings.schema.json").read_text()
    assert json.loads(kept) == json.loads(findings_schema()), (
        ".venv/bin/python tools/findings_schema.py >docs/findings.schema.json"
    )
