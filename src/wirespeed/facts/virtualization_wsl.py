"""Windows Subsystem for Linux: which version, and how its network is joined to Windows'."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.kernel import Kernel
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, read_as

SECTION = re.compile(r"[ \t]*\[([A-Za-z][A-Za-z0-9]*)\][ \t]*(?:#.*)?")
KEY = re.compile(r"([ \t]*)([A-Za-z][A-Za-z0-9]*)([ \t]*=[ \t]*)(.*)")
COMMENT = re.compile(r"[ \t]*(?:#.*)?")
ESCAPES = {"\\": "\\", '"': '"', "b": "\b", "n": "\n", "t": "\t"}
MOVED = frozenset({"networkingmode", "dnstunneling", "firewall", "autoproxy"})
"""Keys that WSL reads of `[experimental]` as if they stood in `[wsl2]`, where they were moved."""
MODES = ("nat", "mirrored", "bridged", "virtioproxy", "consomme", "none", "wsl1")


@dataclass(frozen=True, slots=True)
class Wsl(Fact):
    """Its Linux side; .wslconfig lies on the Windows side and is not read."""

    version: Observed[int]
    """1 or 2; Absent: this is no WSL."""
    networking_mode: Observed[str]
    """`nat`, `mirrored`, `bridged`, `virtioproxy`, `none`: what is in force, not what was asked."""
    settings: Observed[dict[str, str]]
    """/etc/wsl.conf, as `network.hostname`, in lower case; Absent: there is none."""

    script: ClassVar[str] = """\
release=
{ read -r release </proc/sys/kernel/osrelease; } 2>/dev/null
case $release in *[Mm]icrosoft*)
	run wsl-mode - wslinfo --networking-mode
	show wsl-conf - grep -H '' /etc/wsl.conf ;;
esac
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the kernel's release, and where it is Microsoft's what wslinfo and wsl.conf say."""
        version = read_as(Kernel.parse(capture).release, _version)
        if isinstance(version, Known) and not version.value:
            absent = Absent(version.source, "this is not WSL")
            return cls(absent, absent, absent)
        mode = read_as(capture.text("wsl-mode", "wslinfo --networking-mode"), _mode)
        conf = capture.files("wsl-conf", ("wsl.conf",))["/etc/wsl.conf"]
        return cls(version, mode, read_as(conf, lambda text: settings_of(readable(text))))


def _version(release: str) -> int:
    """0: none. WSL 1 names its own number (4.4.0-19041-Microsoft), WSL 2 is a kernel of its own."""
    if "microsoft" not in release.lower():
        return 0
    return 1 if release.endswith("-Microsoft") else 2


def _mode(text: str) -> str:
    mode = text.strip().lower()
    if mode not in MODES:
        raise ValueError(f"{mode[:40]!r} is not a mode that is known")
    return mode


def settings_of(text: str) -> dict[str, str]:
    """Give `section.key` of .wslconfig or wsl.conf, in lower case, with its value.

    As WSL's own parser does (github.com/microsoft/WSL, src/shared/configfile/configfile.cpp): of a
    key that is there twice the first counts, and a line that it cannot read counts as none.
    """
    found: dict[str, str] = {}
    for name, value in _pairs(text):
        found.setdefault(name, value)
    return found


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in re.split(r"[\r\n]+", text.removeprefix("\ufeff")):
        if match := SECTION.fullmatch(line):
            section = match[1]
        elif (match := KEY.fullmatch(line)) and (value := value_in(match[4])):
            yield full_name(section, match[2]), value[0]


def readable(text: str) -> str:
    """Give the lines of a wsl.conf before the first that WSL cannot read: it ends there.

    Of a .wslconfig it leaves out that line alone (CFG_SKIP_INVALID_LINES).
    """
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        body = line.strip("\r\n")
        match = KEY.fullmatch(body)
        is_key = match is not None and value_in(match[4]) is not None
        if not is_key and not SECTION.fullmatch(body) and not COMMENT.fullmatch(body):
            return "".join(lines[:number])
    return text


def full_name(section: str, key: str) -> str:
    """Name a key as WSL does, whatever the case of its letters: `wsl2.networkingmode`."""
    section, key = section.lower(), key.lower()
    return f"{'wsl2' if section == 'experimental' and key in MOVED else section}.{key}"


def value_in(text: str) -> tuple[str, int] | None:
    """Give the value after a `=`, and where it ends; None: WSL cannot read it.

    Quotation marks are not part of it, and a `#` outside of them begins a comment.
    """
    value, length, end, is_quoted = "", 0, 0, False
    characters = iter(enumerate(text))
    for at, character in characters:
        if character == "#" and not is_quoted:
            break
        if character == '"':
            is_quoted = not is_quoted
        elif character == "\\":
            at, escaped = next(characters, (at, ""))
            if escaped not in ESCAPES:
                return None
            value += ESCAPES[escaped]
        else:
            value += character
        if character not in " \t":
            length, end = len(value), at + 1
    return None if is_quoted else (value[:length], end)
