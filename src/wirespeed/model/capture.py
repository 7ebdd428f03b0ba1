"""The text that the collector prints on a host, split into its sections. Pure, and never trusting.

    wirespeed-capture 1 <mark>
    <mark> begin <name> <subject>
    what the command printed, and a line end of ours
    <mark> errors
    what it printed to standard error (left out when that is nothing)
    <mark> end <return code>
    …
    <mark> done

`mark` is a word drawn anew for every capture, so that nothing on the host can print it by accident
or on purpose. `subject` is a netdev, a PCI address or `-`. A section without its end was cut off.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wirespeed.model.error import InputError
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

MAGIC = "wirespeed-capture "
VERSION = 1
MAX_CAPTURE_BYTES = 64 << 20
HEADER = re.compile(r"wirespeed-capture (\d{1,9}) ([0-9A-Za-z-]{4,64})\r?")
NOT_FOUND_RETURNCODE = 127
TIMED_OUT_RETURNCODE = 124
NOT_THERE = "No such file or directory"
DENIED = re.compile(r"permission denied|operation not permitted|must be root|are you root", re.I)
UNSUPPORTED = re.compile(r"not supported|no such device|no data available|unsupported", re.I)


@dataclass(frozen=True, slots=True)
class Section:
    """What one command of the collector printed."""

    name: str
    subject: str
    """Empty for what is about the host as a whole."""
    output: str
    errors: str
    returncode: int | None
    """None: the capture ends within this section."""

    def text(self, command: str) -> Observed[str]:
        """Give the output of a command that succeeded; `command` is how to run it again."""
        if self.returncode == 0:
            return Known(self.output, command)
        return self.failure(command)

    def failure(self, command: str) -> Absent | Unreadable:
        """Say why there is no good output: Absent where the host says that it has no such thing."""
        said = (self.errors.strip() or self.output.strip()).splitlines()
        first = said[0][:200] if said else f"return code {self.returncode}"
        if self.returncode is None:
            return Unreadable("the capture ends within this section", command)
        if self.returncode == NOT_FOUND_RETURNCODE:
            return Unreadable(f"{command.split()[0]} is not installed", command)
        if self.returncode == TIMED_OUT_RETURNCODE:
            return Unreadable("it did not end in time", command)
        if not DENIED.search(first) and UNSUPPORTED.search(first):
            return Absent(command, first)
        return Unreadable(first, command)


class Files:
    """Small files of a host by their path, as `grep -H ''` prints them. Unasked is unreadable."""

    def __init__(self, section: Section | None, attributes: Iterable[str]) -> None:
        """Read `section`; `attributes` are the last path components that were asked for."""
        self._section = section
        self._attributes = frozenset(attributes)
        self._lines: dict[str, list[str]] = {}
        self._errors: dict[str, str] = {}
        if section is None:
            return
        # A path may hold colons (0000:03:00.0), and so may content: the attribute is what splits.
        names = "|".join(re.escape(name) for name in sorted(self._attributes))
        line_of = re.compile(rf"((?:[^\n]*?/)?(?:{names})):(.*)")
        for line in section.output.splitlines():
            if match := line_of.match(line):
                self._lines.setdefault(match[1], []).append(match[2])
        for line in section.errors.splitlines():
            path, _, why = line.removeprefix("grep: ").rpartition(": ")
            self._errors[path] = why

    def paths(self) -> Iterator[str]:
        """Every path that had content."""
        return iter(self._lines)

    def __getitem__(self, path: str) -> Observed[str]:
        """Content of a file without its last line end; Known("") when it is empty."""
        if path.rpartition("/")[2] not in self._attributes:
            raise AssertionError(f"{path}: not among the attributes asked for")
        source = f"cat {path}"
        if path in self._lines:
            return Known("\n".join(self._lines[path]), source)
        if self._section is None:
            return Unreadable("the capture has no such section", source)
        if why := self._errors.get(path):
            return Absent(source) if why == NOT_THERE else Unreadable(why, source)
        if self._section.returncode is None:
            return Unreadable("the capture ends within this section", source)
        if not self._lines and not self._errors:
            return Unreadable("nothing was read there", source)
        return Known("", source)


class Capture:
    """Every section of one capture by its name and subject."""

    def __init__(self, sections: Iterable[Section], *, complete: bool) -> None:
        self._sections: dict[tuple[str, str], Section] = {}
        for section in sections:
            # The first stands: what comes later under the same name is not from our collector.
            self._sections.setdefault((section.name, section.subject), section)
        self.complete = complete
        """False: the capture was cut off."""

    def section(self, name: str, subject: str = "") -> Section | None:
        """Give one section, None when the capture has none of that name."""
        return self._sections.get((name, subject))

    def sections(self, name: str) -> dict[str, Section]:
        """All sections of one name by their subject."""
        return {s.subject: s for s in self._sections.values() if s.name == name}

    def text(self, name: str, command: str, subject: str = "") -> Observed[str]:
        """Output of the command of a section; `command` is how a person runs it again."""
        section = self.section(name, subject)
        if section is None:
            return Unreadable("the capture has no such section", command)
        return section.text(command)

    def files(self, name: str, attributes: Iterable[str], subject: str = "") -> Files:
        """Small files of a section by their path."""
        return Files(self.section(name, subject), attributes)


def parse_capture(text: str, where: str) -> Capture:
    """Split a capture. Raises InputError `capture.*` where it is none, or of another version.

    A capture that was cut off is read as far as it goes. `where` names its file or host.
    """
    header, _, rest = text.lstrip("\ufeff").partition("\n")
    match = HEADER.fullmatch(header)
    if match is None:
        raise InputError(
            "capture.not_one",
            where=where,
            found=f"it starts with {header[:40]!r}" if text else "it is empty",
            so="nothing in it can be read",
            next="make one with `wirespeed capture`, or on a host that you cannot reach with the "
            "script of `wirespeed capture --script`",
        )
    if int(match[1]) != VERSION:
        raise InputError(
            "capture.version",
            where=where,
            found=f"version {match[1]}; this wirespeed reads version {VERSION}",
            next="make it again with the script of this wirespeed: `wirespeed capture --script`",
        )
    parts = re.split(rf"^{re.escape(match[2])} ", rest, flags=re.M)[1:]
    complete = bool(parts) and parts[-1].strip() == "done"
    return Capture(_sections(parts), complete=complete)


def _sections(parts: list[str]) -> Iterator[Section]:
    """Make sections of what stands between two marks, each part starting with its keyword."""
    name = subject = output = errors = ""
    is_open = False
    for part in parts:
        line, _, body = part.partition("\n")
        words = line.split()
        keyword = words[0] if words else ""
        if keyword == "begin":
            if is_open:
                yield Section(name, subject, output, errors, None)
            is_open, errors = True, ""
            name = words[1] if len(words) > 1 else ""
            subject = words[2] if len(words) > 2 and words[2] != "-" else ""
            output = body.removesuffix("\n")
        elif keyword == "errors" and is_open:
            errors = body.removesuffix("\n")
        elif keyword == "end" and is_open:
            code = words[1] if len(words) > 1 else ""
            yield Section(name, subject, output, errors, int(code) if code.isdecimal() else None)
            is_open = False
    if is_open:
        yield Section(name, subject, output, errors, None)
