"""Keys of a file with sections, changed in place: every other byte of it stays. Pure.

[wsl2]                       sections and keys are found whatever the case of their letters
networkingMode=mirrored      of a key that is there twice, WSL reads the first: all are changed
"""

import re
from collections.abc import Iterator, Mapping

from wirespeed.facts.virtualization_wsl import KEY, SECTION, full_name, value_in

LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")


def value_of(text: str, section: str, key: str) -> str | None:
    """Give the value of a key, as WSL reads it; None: it is not there."""
    return next(iter(_values(text, full_name(section, key))), None)


def with_values(text: str, section: str, values: Mapping[str, str]) -> str:
    """Give the text with these values, which have no line end; what is so already stays as it is.

    A new key comes at the end of its section's lines, a new section at the end of the text.
    """
    for key, value in values.items():
        if set(_values(text, full_name(section, key))) != {value}:
            text = _with_value(text, section, key, value)
    return text


def _values(text: str, name: str) -> list[str]:
    return [found[1] for _, body, of in _lines(text) if (found := _found(body, of, name))]


def _found(body: str, section: str, name: str) -> tuple[re.Match[str], str, str] | None:
    """Give the parts of a line with this key, its value, and what follows; None: it has none."""
    match = KEY.fullmatch(body)
    value = value_in(match[4]) if match and full_name(section, match[2]) == name else None
    return (match, value[0], match[4][value[1] :]) if match and value else None


def _with_value(text: str, section: str, key: str, value: str) -> str:
    name, end = full_name(section, key), _line_end(text)
    is_there, after, whole = False, -1, []
    for number, (line, body, of) in enumerate(_lines(text)):
        if found := _found(body, of, name):
            is_there, (old, _, rest) = True, found
            # The mark of an encoding may stand before the first line.
            line = line.replace(body, f"{old[1]}{old[2]}{old[3]}{value}{rest}")
        if of.lower() == section.lower() and body.strip():
            after = number
        whole.append(line)
    if is_there:
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


def _lines(text: str) -> Iterator[tuple[str, str, str]]:
    """Give each line, the same without its end, and the section that it belongs to."""
    section = ""
    for line in filter(None, LINE.findall(text)):
        body = line.rstrip("\r\n").removeprefix("\ufeff")
        if match := SECTION.fullmatch(body):
            section = match[1]
        yield line, body, section


def _line_end(text: str) -> str:
    """Give the line end that the text has first."""
    match = re.search(r"\r\n|\n|\r", text)
    return match[0] if match else "\n"
