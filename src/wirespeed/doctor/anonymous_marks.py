"""Marks that stand for what is put into an anonymous capture, until the last step puts it in.

A mark consists of characters that no pattern matches, so no later step replaces a replacement.
"""

import re

from wirespeed.doctor.anonymous_names import too_large
from wirespeed.doctor.anonymous_patterns import DIGITS, FIRST, LAST, MARKED

MOST_REPLACED = 30_000
"""8 ports with 256 VFs each have some 10,000 addresses to replace; one takes up to 60 us."""
BASE = 256
"""A mark's number has one of so many characters per digit, from DIGITS on."""


class Marks:
    """The marks of one text; `clear` before the next."""

    def __init__(self) -> None:
        self.where = ""
        """The file that the text is from, for an error."""
        self._made: list[str] = []

    def clear(self) -> None:
        """Forget all marks."""
        self._made.clear()

    def made_for(self, text: str) -> str:
        """Give a new mark for a text; raises InputError `capture.too_large` for too many."""
        if len(self._made) >= MOST_REPLACED:
            raise too_large(self.where, f"more than {MOST_REPLACED} names and addresses")
        self._made.append(text)
        number, digits = len(self._made) - 1, ""
        while number or not digits:
            digits, number = chr(DIGITS + number % BASE) + digits, number // BASE
        return f"{FIRST}{digits}{LAST}"

    def put_in(self, text: str) -> str:
        """Replace each mark by what it stands for, where marks may stand in turn."""
        return MARKED.sub(self._text_of, text)

    def _text_of(self, match: re.Match[str]) -> str:
        number = 0
        for digit in match[1]:
            number = number * BASE + ord(digit) - DIGITS
        return self.put_in(self._made[number])
