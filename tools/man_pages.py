"""Writes man pages and shell completion of every command, from what click knows of them.

python tools/man_pages.py FOLDER              wirespeed.1, wirespeed-fleet-doctor.1 and so on
python tools/man_pages.py --complete FOLDER   wirespeed.bash, .zsh and .fish
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from wirespeed import __version__
from wirespeed.cli import COMMANDS, cli
from wirespeed.commands.described import Described

SHELLS = ("bash", "zsh", "fish")
Path_ = tuple[str, ...]


def pages(command: click.Command, path: Path_ = ("wirespeed",)) -> Iterator[tuple[str, str]]:
    """Give the name and the text of a command's page, then those of its subcommands."""
    context = click.Context(command, info_name=" ".join(path))
    children = []
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None and not child.hidden:
                children.append((name, child))
    yield "-".join(path), "\n".join(_page(command, context, path, children)) + "\n"
    for name, child in children:
        yield from pages(child, (*path, name))


def escaped(text: str) -> str:
    """Give text as roff prints it: no character of it is a request."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"^\.", "\\&.", plain, flags=re.M)


def completion(shell: str) -> str:
    """Give the script that completes wirespeed's words in a shell."""
    kind = get_completion_class(shell)
    if kind is None:
        raise ValueError(f"click completes in no {shell}")
    return kind(cli, {}, "wirespeed", "_WIRESPEED_COMPLETE").source()


def _page(
    command: click.Command,
    context: click.Context,
    path: Path_,
    children: list[tuple[str, click.Command]],
) -> Iterator[str]:
    name = escaped("-".join(path))
    yield f'.TH "{name.upper()}" 1 "" "wirespeed {__version__}" "wirespeed"'
    # What click prints is broken as it stands, and options are not broken at a hyphen.
    yield from (".nh", ".ad l", ".SH NAME")
    yield f"{name} \\- {escaped(_brief(command))}"
    yield ".SH SYNOPSIS"
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"\\fB{escaped(' '.join(path))}\\fR {escaped(usage)}"
    yield ".SH DESCRIPTION"
    for number, paragraph in enumerate(_paragraphs(command)):
        if number:
            yield ".PP"
        yield paragraph
    rows = [row for param in command.get_params(context) if (row := param.get_help_record(context))]
    if rows:
        yield ".SH OPTIONS"
        for left, right in rows:
            yield from (".TP", f"\\fB{escaped(left)}\\fR", escaped(right))
    if children:
        yield ".SH COMMANDS"
        for word, child in children:
            own = COMMANDS[word] if path == ("wirespeed",) else _brief(child)
            yield from (".TP", f"\\fB{name}\\-{escaped(word)}\\fR(1)", escaped(own))
    if isinstance(command, Described):
        yield from (".SH READS", escaped(command.reads), ".SH CHANGES", escaped(command.changes))
        yield ".SH EXIT STATUS"
        for code, meaning in sorted(command.codes.items()):
            yield from (".TP", str(code), escaped(meaning))
    if len(path) > 1:
        yield ".SH SEE ALSO"
        yield f"\\fB{escaped('-'.join(path[:-1]))}\\fR(1)"


def _brief(command: click.Command) -> str:
    return " ".join(re.split(r"(?<=[.:?])\s|\n\n", command.help or "")[0].split()).rstrip(".:")


def _paragraphs(command: click.Command) -> Iterator[str]:
    """Give a help's paragraphs; one that begins with a backspace keeps its lines, as in click."""
    for paragraph in re.split(r"\n\s*\n", command.help or ""):
        if paragraph.startswith("\b"):
            yield ".nf\n" + escaped(paragraph.removeprefix("\b").strip("\n")) + "\n.fi"
        else:
            yield escaped(" ".join(paragraph.split()))


def main() -> None:
    """Write them."""
    folder = Path(sys.argv[-1])
    folder.mkdir(parents=True, exist_ok=True)
    if "--complete" in sys.argv:
        for shell in SHELLS:
            (folder / f"wirespeed.{shell}").write_text(completion(shell))
    else:
        for name, text in pages(cli):
            (folder / f"{name}.1").write_text(text)


if __name__ == "__main__":
    main()
