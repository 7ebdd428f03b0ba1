"""Every wirespeed command that a page, a help or a message names exists, with these options."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from wirespeed.cli import cli

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
IN_TEXT = re.compile(r"`(?:\$ )?(?:\.venv/bin/)?wirespeed\s+([a-z][^`]*)`")
ON_A_LINE = re.compile(r"^    (?:\$ )?(?:sudo )?(?:\.venv/bin/)?wirespeed ([a-z].*)$", re.M)
ENDS = {"--", "|", ">", ">>", "&&", ";"}
"""What follows is another program's, or text of this line's own."""
OF_ANOTHER_PROGRAM = {"lab shell"}


def in_text(text: str) -> Iterator[str]:
    """Give what is typed after `wirespeed`, between backticks."""
    for match in IN_TEXT.finditer(text):
        yield " ".join(match[1].split())


def named(text: str) -> Iterator[str]:
    """Give that, and what a page has on a line of its own."""
    whole = re.sub(r"\\\n\s*", " ", text)
    yield from in_text(whole)
    for match in ON_A_LINE.finditer(whole):
        # After three spaces a line says what its command is for.
        yield re.split(r"   |  #", match[1])[0]


def fault(line: str) -> str:
    """Say what of a command line the program does not have; nothing: it has all of it."""
    command: click.Command = cli
    words, name = line.split(), []
    while isinstance(command, click.Group) and words and re.fullmatch(r"[a-z][a-z0-9-]*", words[0]):
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            return f"no command {words[0]}"
        command = found
        name.append(words.pop(0))
    has = {word for one in command.params for word in (*one.opts, *one.secondary_opts)}
    for word in words if " ".join(name) not in OF_ANOTHER_PROGRAM else ():
        if word in ENDS:
            break
        option = re.match(r"\[?(--[a-z][a-z0-9-]*)", word)
        if option and option[1] not in {*has, "--help"}:
            return f"{' '.join(name)} has no option {option[1]}"
    return ""


def faults(lines: Iterator[str]) -> list[str]:
    return [f"{line}: {found}" for line in lines if (found := fault(line))]


def messages(source: str) -> Iterator[str]:
    """Give every string of a file; what it fills in is X."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            parts = (one.value if isinstance(one, ast.Constant) else "X" for one in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_commands_that_exist(page: Path):
    assert faults(named(page.read_text())) == []


def test_a_message_names_commands_that_exist():
    wrong = [
        f"{file.name}: {found}"
        for file in (ROOT / "src/wirespeed").rglob("*.py")
        for message in messages(file.read_text())
        for found in faults(in_text(message))
    ]
    assert wrong == []


def test_what_does_not_exist_is_found():
    text = (
        "`wirespeed no-such`, `wirespeed plan SPEC --sudden`:\n\n    wirespeed lab up --dpdk --x\n"
    )
    assert [fault(line) for line in named(text)] == [
        "no command no-such",
        "plan has no option --sudden",
        "lab up has no option --x",
    ]
