"""What mstflint and its kin print of a card and of an image, and how several are asked at once."""

import re

from wirespeed.model.command import Command

LINE = re.compile(r"^(Image type|FW Version|FW Version\(Running\)|PSID):[ \t]+(\S+)[ \t]*$", re.M)
VERSION = r"^[0-9]{1,3}\.[0-9]{1,4}\.[0-9]{1,5}$"
PSID = r"^[A-Z0-9_]{6,16}$"
ASKED_S = 50
"""For the tools to ask a card: each setting is a question to its firmware, and mstfwreset starts
many programs. One that is ended in its midst leaves the card locked (host/sections.sh)."""
IMAGE = r"^/[A-Za-z0-9][A-Za-z0-9_./-]{0,250}\.(bin|mfa2)$"


def all_of(*questions: tuple[str, ...]) -> Command:
    """Ask several commands in one: xargs(1) runs `env` on each line. Its words have no blanks."""
    lines = "\n".join(" ".join(words) for words in questions)
    return Command(argv=("xargs", "-L", "1", "env"), stdin=lines)


def answers(text: str) -> list[dict[str, str]]:
    """Give the lines of interest of each `query`, in the order in which they were asked."""
    found: list[dict[str, str]] = []
    for name, value in LINE.findall(text):
        if name == "Image type":
            found.append({})
        if found:
            found[-1].setdefault(name, value)
    return found


def as_numbers(version: str) -> tuple[int, ...]:
    """Give a version to compare: `16.35.3502`. Raises ValueError."""
    if not re.fullmatch(VERSION, version):
        raise ValueError(f"{version[:40]!r} is not a version")
    return tuple(map(int, version.split(".")))
