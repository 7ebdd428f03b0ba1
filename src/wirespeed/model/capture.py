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
from wirespeed.model.shown import shown

MAGIC = "wirespeed-capture "
VERSION = 1
MAX_CAPTURE_BYTES = 64 << 20
MAX_SECTION_CHARACTERS = 8 << 20
"""A thousand VFs in `ip -j -d link` are 3 MB."""
MAX_PREAMBLE_CHARACTERS = 64 << 10
"""What a login shell may say before the header."""
HEADER = re.compile(rf"^{MAGIC}(\d{{1,9}}) ([0-9A-Za-z-]{{4,64}})(\r?)(?:\n|\Z)", re.M)
NOT_FOUND_RETURNCODE = 127
NOT_USABLE_RETURNCODE = 126
TIMED_OUT_RETURNCODE = 124
GREP_RETURNCODES = (0, 1, 2, 123)
"""Of `xargs grep`: all is read or has its reason; 123 is what xargs makes of the others."""
MISSING_TOOL = re.compile(r"([\w.+-]{1,64}): (?:command )?not found")
MAX_PATH_CHARACTERS = 4096
MAX_PATH_COLONS = 32
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
        said = (self.errors.strip() or self.output.strip()).partition("\n")[0]
        first = shown(said, 200) or f"return code {self.returncode}"
        if self.returncode is None:
            return Unreadable("the capture ends within this section", command)
        if self.returncode == NOT_FOUND_RETURNCODE:
            tool = MISSING_TOOL.search(self.errors[:1000])
            return Unreadable(
                f"{tool[1] if tool else command.split()[0]} is not installed", command
            )
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
        self._torn = ""
        if section is None:
            return
        for line in section.output.split("\n"):
            if at := self._end_of_path(line):
                self._lines.setdefault(line[:at], []).append(line[at + 1 :])
        if section.returncode in (None, TIMED_OUT_RETURNCODE):
            # Of `16` only the `1` may have come.
            self._torn = next(reversed(self._lines), "")
        for line in section.errors.split("\n"):
            path, colon, why = line.removeprefix("grep: ").rpartition(": ")
            # `sh: cd: can't cd to /sys` tells of no file: alone, it means that nothing was read.
            if colon and path.rpartition("/")[2] in self._attributes:
                self._errors[path] = why

    def _end_of_path(self, line: str) -> int:
        """Where the path ends. It may hold colons (0000:03:00.0): the attribute is what splits."""
        at = -1
        for _ in range(MAX_PATH_COLONS):
            at = line.find(":", at + 1, MAX_PATH_CHARACTERS)
            if at < 0:
                return 0
            if line[line.rfind("/", 0, at) + 1 : at] in self._attributes:
                return at
        return 0

    def paths(self) -> Iterator[str]:
        """Every path that had content."""
        return iter(self._lines)

    def __getitem__(self, path: str) -> Observed[str]:
        """Content of a file without its last line end; Known("") when it is empty."""
        if path.rpartition("/")[2] not in self._attributes:
            raise AssertionError(f"{path}: not among the attributes asked for")
        source = f"cat {path}"
        if path in self._lines and path == self._torn:
            return Unreadable("the capture may end within this file", source)
        if path in self._lines:
            return Known("\n".join(self._lines[path]), source)
        if self._section is None:
            return Unreadable("the capture has no such section", source)
        if why := self._errors.get(path):
            return Absent(source) if why == NOT_THERE else Unreadable(why, source)
        if self._section.returncode is None:
            return Unreadable("the capture ends within this section", source)
        if self._section.returncode not in GREP_RETURNCODES:
            return self._section.failure(source)
        if not self._lines and not self._errors:
            return Unreadable("nothing was read there", source)
        return Known("", source)


class Capture:
    """Every section of one capture by its name and subject."""

    def __init__(self, sections: Iterable[Section], *, complete: bool) -> None:
        self._sections: dict[str, dict[str, Section]] = {}
        for section in sections:
            # The first stands: what comes later under the same name is not from our collector.
            self._sections.setdefault(section.name, {}).setdefault(section.subject, section)
        self.complete = complete
        """False: the capture was cut off."""

    def section(self, name: str, subject: str = "") -> Section | None:
        """Give one section, None when the capture has none of that name."""
        return self._sections.get(name, {}).get(subject)

    def sections(self, name: str) -> dict[str, Section]:
        """All sections of one name by their subject."""
        return dict(self._sections.get(name, {}))

    def all_sections(self) -> Iterator[Section]:
        """Every section, those of one name together."""
        for by_subject in self._sections.values():
            yield from by_subject.values()

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
    match = HEADER.search(text[:MAX_PREAMBLE_CHARACTERS].removeprefix("\ufeff"))
    if match is None:
        raise InputError(
            "capture.not_one",
            where=where,
            # Nothing of it: whoever wrote the path may not be who may read the file.
            found="it has no header of a capture" if text.strip() else "it is empty",
            so="nothing in it can be read",
            next="make one with `wirespeed capture`; on a host that wirespeed cannot reach, run "
            "the script of `wirespeed capture --script`",
        )
    version, mark, carriage_return = match.groups()
    if int(version) != VERSION:
        raise InputError(
            "capture.version",
            where=where,
            found=f"version {int(version)}; this wirespeed reads version {VERSION}",
            next="make it again with the script of this release: `wirespeed capture --script`",
        )
    rest = text.removeprefix("\ufeff")[match.end() :]
    if carriage_return:
        # It went through a mail or an editor that ends lines the other way.
        rest = rest.replace("\r\n", "\n")
    # Not by a regular expression: of 200 kB, that takes a millisecond and more.
    *whole, last = f"\n{rest}".split(f"\n{mark} ")[1:] or [""]
    parts = [*(f"{part}\n" for part in whole), last] if whole or last else []
    complete = bool(parts) and parts[-1].partition("\n")[0].strip() == "done"
    return Capture(_sections(parts), complete=complete)


def _sections(parts: list[str]) -> Iterator[Section]:
    """Make sections of what stands between two marks, each part starting with its keyword."""
    name = subject = output = errors = ""
    is_open = False
    for part in parts:
        line, _, body = part.partition("\n")
        keyword, *words = line.split(" ")
        if keyword == "begin":
            if is_open:
                yield _section(name, subject, output, errors, None)
            is_open, errors = True, ""
            name = words[0] if words else ""
            subject = words[1] if len(words) > 1 and words[1] != "-" else ""
            output = body.removesuffix("\n")
        elif keyword == "errors" and is_open:
            errors = body.removesuffix("\n")
        elif keyword == "end" and is_open:
            code = re.fullmatch(r"[0-9]{1,5}", words[0]) if words else None
            yield _section(name, subject, output, errors, int(code[0]) if code else None)
            is_open = False
    if is_open:
        yield _section(name, subject, output, errors, None)


def _section(name: str, subject: str, output: str, errors: str, code: int | None) -> Section:
    """Leave out what no host has to say, so that no parser has to read it."""
    if len(output) + len(errors) > MAX_SECTION_CHARACTERS:
        return Section(
            name, subject, "", "the section is too long to be true", NOT_USABLE_RETURNCODE
        )
    return Section(name, subject, output, errors, code)


def with_section(text: str, where: str, name: str, output: str) -> str:
    """Give the text of a capture with one more section: what was read elsewhere, about that host.

    Raises InputError as `parse_capture` does.
    """
    parse_capture(text, where)
    text = text.removeprefix("\ufeff")
    match = HEADER.search(text[:MAX_PREAMBLE_CHARACTERS])
    if match is None:
        raise AssertionError("it was parsed")
    mark, end = match[2], "\r\n" if match[3] else "\n"
    lines = [f"{mark} begin {name} -", *output.splitlines(), "", f"{mark} end 0", ""]
    # Within what is given, no line may look like one of the capture's own.
    own = (0, len(lines) - 2)
    plain = [line if n in own else line.replace(mark, "") for n, line in enumerate(lines)]
    return text[: match.end()] + end.join(plain) + text[match.end() :]
