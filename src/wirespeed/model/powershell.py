"""A PowerShell command as words, and the one place that quotes it. Pure.

    Set-NetAdapterAdvancedProperty -Name 'eth 10' -RegistryKeyword '*JumboPacket' -NoRestart:$true

The words after the cmdlet are parameters: `-Name` and its value as the next word, whatever that
looks like, or a switch with its truth in one word, `-NoRestart:$true`. A parameter that is there
more than once has a list: `-Property 'Name','Enabled'`. Where a parameter could stand, the word `|`
hands the output to the next cmdlet, and `;` ends the statement.

A few programs are allowed besides: `mlx5cmd.exe -LinkSpeed -Name 'eth 10' -Set 10`. They get their
words as they are: an option may stand alone. One may be the last statement after cmdlets.
"""

import re
from collections.abc import Iterator, Sequence

CMDLET = re.compile(r"[A-Z][A-Za-z]{1,30}-[A-Z][A-Za-z0-9]{1,60}")
"""Verb and noun: no alias, no path, no function of somebody's profile."""
PARAMETER = re.compile(r"-[A-Z][A-Za-z0-9]{0,40}")
SWITCH = re.compile(r"-[A-Z][A-Za-z0-9]{0,40}:\$(true|false)")
QUOTES = "'\u2018\u2019\u201a\u201b"
"""What ends a verbatim string: PowerShell takes typographic quotes for plain ones."""
NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")
"""As it would be printed again: `007` is a name."""
PROGRAMS = ("mlx5cmd.exe", "wsl.exe")
OPTION = re.compile(r"--?[A-Za-z][A-Za-z-]{0,40}")
WILDCARDS = re.compile(r"[`*?\[\]]")
PIPE, END = "|", ";"


def powershell_line(words: Sequence[str]) -> str:
    """Quote a command. Raises ValueError where the words are no cmdlet with its parameters."""
    if words[0] in PROGRAMS:
        return _program(words)
    return "".join(_cmdlets(words))


def quoted(value: str) -> str:
    """Quote a value as a verbatim string; a whole number stands as it is.

    Raises ValueError for a NUL, which no string of a script can hold.
    """
    if "\0" in value:
        raise ValueError("a NUL is in it")
    if NUMBER.fullmatch(value):
        return value
    return "'" + "".join(c * 2 if c in QUOTES else c for c in value) + "'"


def exactly(name: str) -> str:
    """Give the pattern that only this name matches, for a parameter that takes wildcards."""
    return WILDCARDS.sub(r"`\g<0>", name)


def _cmdlets(words: Sequence[str]) -> Iterator[str]:
    rest = iter(words)
    join = ""
    while True:
        cmdlet = next(rest, None)
        if join == "; " and cmdlet in PROGRAMS:
            yield join + _program([cmdlet, *rest])
            return
        if cmdlet is None or not CMDLET.fullmatch(cmdlet):
            raise ValueError(f"{cmdlet!r} is not a cmdlet")
        parameters, ended_by = _parameters(rest)
        yield join + " ".join([cmdlet, *parameters])
        if not ended_by:
            return
        join = " | " if ended_by == PIPE else "; "


def _parameters(rest: Iterator[str]) -> tuple[list[str], str]:
    """Give the parameters of one cmdlet, and what ended them: a pipe, a semicolon or nothing."""
    found: dict[str, list[str]] = {}
    ended_by = ""
    for word in rest:
        if word in (PIPE, END):
            ended_by = word
            break
        if SWITCH.fullmatch(word):
            found[word] = []
            continue
        if not PARAMETER.fullmatch(word):
            raise ValueError(f"{word!r} is not a parameter")
        value = next(rest, None)
        if value is None:
            raise ValueError(f"{word} has no value")
        found.setdefault(word, []).append(quoted(value))
    said = [f"{name} {','.join(values)}" if values else name for name, values in found.items()]
    return said, ended_by


def _program(words: Sequence[str]) -> str:
    return " ".join([words[0], *map(_program_word, words[1:])])


def _program_word(word: str) -> str:
    """Quote a word for a program. Raises ValueError for what Windows PowerShell hands on wrongly.

    It puts words with a blank between double quotes, and does not escape what is in them.
    """
    if OPTION.fullmatch(word):
        return word
    if not word or '"' in word or word.endswith("\\") or word.startswith("-"):
        raise ValueError(f"{word!r} cannot be handed to a program")
    return quoted(word)
