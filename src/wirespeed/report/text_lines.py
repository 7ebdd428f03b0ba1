"""Lines for a terminal: how many columns a text takes, and its breaking into lines. Pure."""

import re
import unicodedata
from collections.abc import Iterator

from wirespeed.model.powershell import CMDLET

CONTINUED = " \\"
"""A shell goes on with the next line."""
CONTINUED_POWERSHELL = " `"
"""And PowerShell."""
SHELL_WORD = re.compile(r"""(?:'[^']*'|"[^"]*"|[^ '"])+""")
"""One word of a line as `shlex.join` quotes it."""


def columns_of(text: str) -> int:
    """Columns that a terminal gives to `text`: letters of East Asian scripts take two."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clip(text: str, columns: int) -> str:
    """Cut `text` to so many columns; the cut is marked."""
    if columns_of(text) <= columns:
        return text
    return _head(text, columns - 1) + "…"


def pad(text: str, columns: int) -> str:
    """Fill `text` up with spaces to so many columns, or clip it to them."""
    clipped = clip(text, columns)
    return clipped + " " * (columns - columns_of(clipped))


def wrapped(text: str, columns: int, first: str = "", rest: str | None = None) -> list[str]:
    """Break `text` between words, or within one that is longer than a line.

    `first` stands before the first line and `rest` before the others (spaces when it is left out);
    both count into `columns`.
    """
    before = " " * columns_of(first) if rest is None else rest
    whole = " ".join(text.split())
    if columns_of(whole) + max(columns_of(first), columns_of(before)) <= columns:
        return [(first + whole).rstrip()]
    lines, line, start = [], "", first
    for word in _words(text, columns - max(columns_of(first), columns_of(before))):
        longer = f"{line} {word}" if line else word
        if line and columns_of(start) + columns_of(longer) > columns:
            lines.append(start + line)
            line, start = word, before
        else:
            line = longer
    return [*lines, (start + line).rstrip()]


def wrapped_command(line: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    r"""Break a line for a shell between words, so that it can still be pasted: each ends in ` \`.

    A line that starts with a cmdlet is PowerShell's, whose mark is another.
    A word that is longer than a line stays whole: cut, it would be another word.
    """
    if columns_of(first) + columns_of(line) <= columns:
        return [first + line]
    lines, start, now = [], first, ""
    goes_on = CONTINUED_POWERSHELL if CMDLET.match(line) else CONTINUED
    words = SHELL_WORD.findall(line)
    for place, word in enumerate(words if " ".join(words) == line else [line]):
        longer = f"{now} {word}" if now else word
        last = place == len(words) - 1
        room = columns - columns_of(start) - (0 if last else len(goes_on))
        if now and columns_of(longer) > room:
            lines.append(start + now + goes_on)
            start, now = rest, word
        else:
            now = longer
    return [*lines, start + now]


def _words(text: str, columns: int) -> Iterator[str]:
    for word in text.split():
        left = word
        while columns_of(left) > columns:
            head = _head(left, columns)
            yield head
            left = left[len(head) :]
        yield left


def _head(text: str, columns: int) -> str:
    taken = 0
    for place, character in enumerate(text):
        taken += _columns(character)
        if taken > columns:
            return text[:place]
    return text
