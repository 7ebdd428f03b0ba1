"""Keys of a file with sections, changed in place: every other byte of it stays. Pure.

[wsl2]                       sections and keys are found whatever the case of their letters
networkingMode=mirrored      of a key that is there twice, the last one counts
"""

import re
from collections.abc import Mapping

SECTION = re.compile(r"[ \t]*\[[ \t]*([^\]\r\n]*?)[ \t]*\][ \t]*(?:[#;].*)?")
KEY = re.compile(r"([ \t]*)([A-Za-z][A-Za-z0-9_.]*)([ \t]*=[ \t]*)(.*?)([ \t]*(?:#.*)?)")
LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")


def value_of(text: str, section: str, key: str) -> str | None:
    """Give the value of a key; None: it is not there."""
    found = None
    for _, body, is_in in _lines(text, section):
        if is_in and (match := KEY.fullmatch(body)) and match[2].lower() == key.lower():
            found = match[4]
    return found


def with_values(text: str, section: str, values: Mapping[str, str]) -> str:
    """Give the text with these values, which have no line end; what is so already stays as it is.

    A new key comes at the end of its section's lines, a new section at the end of the text.
    """
    for key, value in values.items():
        if value_of(text, section, key) != value:
            text = _with_value(text, section, key, value)
    return text


def _with_value(text: str, section: str, key: str, value: str) -> str:
    lines = list(_lines(text, section))
    end = _line_end(text)
    last: int | None = None
    after = -1
    for number, (_, body, is_in) in enumerate(lines):
        match = KEY.fullmatch(body)
        if is_in and match and match[2].lower() == key.lower():
            last = number
        if is_in and body.strip():
            after = number
    whole = [line for line, _, _ in lines]
    if last is not None:
        line, body, _ = lines[last]
        old = KEY.fullmatch(body)
        if old is None:
            raise AssertionError("it was matched")
        # What follows a value is a comment only where a blank is before it.
        whole[last] = f"{old[1]}{old[2]}{old[3]}{value}{old[5]}{line[len(body) :]}"
        return "".join(whole)
    new = f"{key}={value}{end}"
    if after < 0:
        head = "" if not text or text.endswith(("\n", "\r")) else end
        return f"{text}{head}[{section}]{end}{new}"
    if not whole[after].endswith(("\n", "\r")):
        whole[after] += end
        new = new.removesuffix(end)
    whole.insert(after + 1, new)
    return "".join(whole)


def _lines(text: str, section: str) -> list[tuple[str, str, bool]]:
    """Give each line, the same without its end, and whether it belongs to the section."""
    found = []
    is_in = False
    for line in LINE.findall(text):
        if not line:
            continue
        body = line.rstrip("\r\n").removeprefix("\ufeff")
        if match := SECTION.fullmatch(body):
            is_in = match[1].lower() == section.lower()
        found.append((line, body, is_in))
    return found


def _line_end(text: str) -> str:
    """Give the line end that the text has first."""
    match = re.search(r"\r\n|\n|\r", text)
    return match[0] if match else "\n"
