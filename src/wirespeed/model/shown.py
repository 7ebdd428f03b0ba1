"""Text that a host printed, made fit to stand in a line on a terminal or a page. Pure.

`shown` is for one text within a line. `printable` is for all that leaves the program: what no
`shown` met before is met there.
"""

import unicodedata

MAX_CHARACTERS = 400
_SPACES = str.maketrans({"\t": " ", "\u00a0": " "})


def shown(text: str, limit: int = MAX_CHARACTERS) -> str:
    r"""Give `text` as one harmless line: what is not printable stands as `\x1b` or `\u202e`.

    Escape sequences, line ends, C1 controls, what turns the direction of writing, invisible
    characters and lone surrogates are all not printable (`str.isprintable`); letters of any
    script are. More than `limit` characters are cut, and the cut is marked. A page must still
    escape `<` and `&`, as its template does.
    """
    cut = text[: limit - 1] + "…" if len(text) > limit else text
    cut = cut.translate(_SPACES)
    if cut.isprintable():
        return cut
    return "".join(c if c.isprintable() else _escape(c) for c in cut)


class _Printable(dict[int, str | int]):
    """What stands for each character, as `str.translate` asks for it."""

    def __missing__(self, code: int) -> str | int:
        character = chr(code)
        is_kept = character.isprintable() or unicodedata.category(character) == "Zs"
        stands: str | int = code if is_kept else _escape(character)
        self[code] = stands
        return stands


_PRINTABLE = _Printable({ord("\n"): "\n", ord("\t"): "\t"})


def printable(text: str) -> str:
    """Give a whole text for a terminal or a file that people read; its lines and tabs stay.

    Every other character that `shown` writes out is written out here too.
    """
    return text if text.isprintable() else text.translate(_PRINTABLE)


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
