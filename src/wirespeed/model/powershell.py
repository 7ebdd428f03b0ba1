"""A PowerShell command as words, and the one place that quotes it. Pure.

    Set-NetAdapterAdvancedProperty -Name 'eth 10' -RegistryKeyword '*JumboPacket' -NoRestart:$true

The words after the cmdlet are parameters: `-Name` and its value as the next word, whatever that
looks like, or a switch with its truth in one word, `-NoRestart:$true`.
"""

import re
from collections.abc import Iterator, Sequence

CMDLET = re.compile(r"[A-Z][A-Za-z]{1,30}-[A-Z][A-Za-z0-9]{1,60}")
"""Verb and noun: no alias, no path, no function of somebody's profile."""
PARAMETER = re.compile(r"-[A-Z][A-Za-z0-9]{0,40}")
SWITCH = re.compile(r"-[A-Z][A-Za-z0-9]{0,40}:\$(true|false)")
QUOTES = "'\u2018\u2019\u201a\u201b"
"""What ends a verbatim string: PowerShell takes typographic quotes for plain ones."""
NUMBER = re.compile(r"-?[0-9]{1,18}")


def powershell_line(words: Sequence[str]) -> str:
    """Quote a command. Raises ValueError where the words are no cmdlet with its parameters."""
    cmdlet, *rest = words
    if not CMDLET.fullmatch(cmdlet):
        raise ValueError(f"{cmdlet!r} is no cmdlet")
    return " ".join([cmdlet, *_parameters(rest)])


def quoted(value: str) -> str:
    """Quote a value as a verbatim string; a whole number stands as it is.

    Raises ValueError for a NUL, which no string of a script can hold.
    """
    if "\0" in value:
        raise ValueError("a NUL is in it")
    if NUMBER.fullmatch(value):
        return value
    return "'" + "".join(c * 2 if c in QUOTES else c for c in value) + "'"


def _parameters(words: Sequence[str]) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        if SWITCH.fullmatch(word):
            yield word
            continue
        if not PARAMETER.fullmatch(word):
            raise ValueError(f"{word!r} is no parameter")
        value = next(rest, None)
        if value is None:
            raise ValueError(f"{word} has no value")
        yield f"{word} {quoted(value)}"
