"""What the collector recorded of a host, asked again in the words of steps. Pure.

Which section answers a command is read from the collector's own text, so that every source of facts
answers as soon as it is there:

    run ethtool-rings "$netdev" ethtool -g "$netdev"   `ethtool -g eth0`: ethtool-rings of eth0
    … | files sriov -                                  `cat F`, `grep -H '' F …`: lines of sriov
    run ip-link - ip -j -d link show                   see recorded_netdevs.py
    show modules - …                                   `ls -d /sys/module/NAME`
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.facts.firmware import RESETS
from wirespeed.model.capture import NOT_THERE, Capture, Section
from wirespeed.model.observed import Absent, Known, Observed

CONTINUED = re.compile(r"\\\n\s*")
RUN = re.compile(r"^[ \t]*(?:\[.*\|\| )?(?:run|ask_card) (\S+) (\S+) (.+)$", re.M)
VARIABLE = re.compile(r"\\\$(\w+)")
WORD = r"[A-Za-z0-9_.:@+-]+"
"""What a variable of the collector holds in a command that a step has too."""
FILES = re.compile(r"\| files (\S+) -$|^[ \t]*show (\S+) - grep -H ''", re.M)
SHOWN = re.compile(r"^[ \t]*show (\S+) - (\w+)$", re.M)
FUNCTION = re.compile(r"^(\w+)\(\) [({]\n(.*?)^[)}]", re.M | re.S)
GREP = "grep -H ''"
SEPARATOR = "\0"
MODULE = "/sys/module/"
PRINT_FILES = (("cat",), ("grep", "-H", ""))


@dataclass(frozen=True, slots=True)
class _Run:
    """A line `run NAME SUBJECT COMMAND…` of the collector."""

    name: str
    subject: str
    program: str
    """Empty where a variable has it."""
    pattern: re.Pattern[str]
    """Of the command's words; a variable is a group of its name."""


class RecordedAnswers:
    """The collector's text, read once: it answers for every capture that it made."""

    def __init__(self, collector: str) -> None:
        text = CONTINUED.sub(" ", collector)
        self._runs = tuple(_run(*match.groups()) for match in RUN.finditer(text))
        bodies = dict(FUNCTION.findall(text))
        shown = [name for name, function in SHOWN.findall(text) if GREP in bodies.get(function, "")]
        self._of_files = (*shown, *(one or other for one, other in FILES.findall(text)))

    def answer(self, capture: Capture, argv: Sequence[str]) -> Section | None:
        """Give what the command printed there, or would have; None: the capture does not hold it.

        A reading that failed then is a section that failed, with its reason.
        """
        return (
            self._same(capture, argv)
            or self._printed_files(capture, argv)
            or _module(capture, argv)
        )

    def _same(self, capture: Capture, argv: Sequence[str]) -> Section | None:
        words = SEPARATOR.join(_whole(argv))
        for run in self._runs:
            if run.program in ("", argv[0]) and (match := run.pattern.fullmatch(words)):
                values = match.groupdict()
                subject = _filled(run.subject, values)
                found = capture.section(_filled(run.name, values), subject.removeprefix("-"))
                if found is not None:
                    return found
        return None

    def _printed_files(self, capture: Capture, argv: Sequence[str]) -> Section | None:
        command = next((c for c in PRINT_FILES if tuple(argv[: len(c)]) == c), None)
        if command is None:
            return None
        output, errors = "", ""
        for path in argv[len(command) :]:
            content = self._file(capture, path)
            if isinstance(content, Known):
                prefix = f"{path}:" if len(command) > 1 else ""
                output += "".join(f"{prefix}{line}\n" for line in content.value.split("\n"))
            elif content is not None:
                why = NOT_THERE if isinstance(content, Absent) else content.reason
                errors += f"{command[0]}: {path}: {why}\n"
            else:
                return None
        returncode = (2 if len(command) > 1 else 1) if errors else 0
        return Section("recorded", "", output, errors, returncode)

    def _file(self, capture: Capture, path: str) -> Observed[str] | None:
        """Give a file by the section that has its path, in a line or in a reason."""
        for name in self._of_files:
            section = capture.section(name)
            if section is not None and (f"{path}:" in section.output or path in section.errors):
                return capture.files(name, {path.rpartition("/")[2]})[path]
        return None


def _whole(argv: Sequence[str]) -> Sequence[str]:
    """Give the command that prints every setting of a card for one that prints some."""
    is_of_settings = argv[0] in RESETS and tuple(argv[3:5]) == ("-e", "q")
    return argv[:5] if is_of_settings else argv


def _run(name: str, subject: str, command: str) -> _Run:
    words = shlex.split(command)
    pattern = VARIABLE.sub(_Groups(), re.escape(SEPARATOR.join(words)))
    program = "" if "$" in words[0] else words[0]
    return _Run(name.strip('"'), subject.strip('"'), program, re.compile(pattern))


class _Groups:
    """A group for the first use of a variable, and the same again for each further one."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, match: re.Match[str]) -> str:
        if match[1] in self._seen:
            return f"(?P={match[1]})"
        self._seen.add(match[1])
        return f"(?P<{match[1]}>{WORD})"


def _filled(template: str, values: dict[str, str]) -> str:
    return re.sub(r"\$(\w+)", lambda match: values.get(match[1], match[0]), template)


def _module(capture: Capture, argv: Sequence[str]) -> Section | None:
    """Answer `ls -d /sys/module/NAME` from the names of all."""
    section = capture.section("modules")
    if section is None or tuple(argv[:2]) != ("ls", "-d") or not argv[2].startswith(MODULE):
        return None
    if section.returncode != 0 or argv[2] in section.output.split("\n"):
        return Section(section.name, "", argv[2], section.errors, section.returncode)
    said = f"ls: cannot access '{argv[2]}': {NOT_THERE}"
    return Section(section.name, "", "", said, 2)
