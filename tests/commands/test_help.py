"""Every help fits 80 columns, begins with what the command does, and says how it ends."""

import re
from collections.abc import Iterator

import click
import pytest

from wirespeed.cli import COMMANDS, cli
from wirespeed.commands.described import Described

COLUMNS = 80
FIRST_LINE = 72
NOT_IMPERATIVE = re.compile(r"(the|a|an|which|whether|what|who|of|for|virtual|bridged)\b", re.I)
QUESTIONS = {"advise transport", "advise fabric", "advise slot", "advise cable", "advise wsl2",
             "advise network"}  # fmt: skip
"""Their help is the question that they answer."""


def every(group: click.Group = cli, names: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{names}{name}", command
        if isinstance(command, click.Group):
            yield from every(command, f"{names}{name} ")


EVERY = dict(every())


@pytest.mark.parametrize("name", EVERY)
def test_a_help_fits_80_columns(name: str):
    context = click.Context(EVERY[name], info_name=f"wirespeed {name}", max_content_width=COLUMNS)
    lines = EVERY[name].get_help(context).split("\n")
    assert [line for line in lines if len(line) > COLUMNS] == []


@pytest.mark.parametrize("name", [name for name in EVERY if name not in QUESTIONS | {"lab"}])
def test_a_help_begins_with_what_the_command_does(name: str):
    first = (EVERY[name].help or "").split("\n")[0]
    assert first and not NOT_IMPERATIVE.match(first), first


def test_the_list_of_commands_has_short_lines():
    assert {text for text in COMMANDS.values() if len(text) > FIRST_LINE} == set()


@pytest.mark.parametrize(
    "name", [name for name, command in EVERY.items() if not isinstance(command, click.Group)]
)
def test_a_help_says_what_is_read_and_changed_and_each_exit_code(name: str):
    command = EVERY[name]
    assert isinstance(command, Described), name
    assert command.reads and command.changes and set(command.codes) <= {0, 1, 2, 3, 4}
    text = command.get_help(click.Context(command))
    for code, meaning in command.codes.items():
        assert re.search(rf"^  {code}  {re.escape(meaning.split(',')[0][:40])}", text, re.M), code


def test_every_option_says_what_it_is():
    silent = [
        f"{name} {option.name}"
        for name, command in EVERY.items()
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden and not option.help
    ]
    assert silent == []
