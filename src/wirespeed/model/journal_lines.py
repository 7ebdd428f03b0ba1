"""The lines of a journal as text: sealed when they are written, judged when they are read. Pure.

    {"kind":"intent", …, "seal":"5 9f86d081884c7d65 2c26b46b68ffc68f"}

The seal names the number of the line, the run (digest of its first line) and the digest of the line
up to there. So each line tells by itself whether it is whole, of this run, and in its place; where
one is spoilt, the others still hold. Lines without a seal are those of older releases.
"""

import hashlib
import re
from dataclasses import dataclass

from wirespeed.model.journal import ENTRY, Begun, Entry, Staged, Stood
from wirespeed.model.json_value import read_record

_SEAL = re.compile(rb',"seal":"([0-9]{1,9}) ([0-9a-f]{16}) ([0-9a-f]{16})"\}$')

MAX_LINES = 100_000
"""A plan has some 1,000 steps, and a step three lines."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A line that is not what was written there, or the place of lines that are gone."""

    line: int
    """In the file, from 1."""
    found: str
    lost: int = 1
    """How many lines of the run it stands for: none, where it is of another run."""


@dataclass(frozen=True, slots=True)
class JournalText:
    """What a journal's file says."""

    entries: tuple[Entry, ...]
    damage: tuple[Damage, ...]
    lines: int
    """Whole lines in the file."""
    size_bytes: int
    torn_bytes: int
    """After the last whole line: a kill cut that one short."""
    run: str = ""
    """What its seals name; empty: there is no whole line."""
    number: int = 0
    """Of its last line, as far as that is known; the next one has the next."""
    numbers: tuple[int, ...] = ()
    """Of each entry's line."""
    begins_sealed: bool = False
    """Whether its first entry has a seal: no older release wrote it."""

    @property
    def has_beginning(self) -> bool:
        """Whether the plan is known that all else is about."""
        return bool(self.entries)

    @property
    def lost(self) -> int:
        """How many lines of the run are not known."""
        return sum(one.lost for one in self.damage)


def sealed(body: str, number: int, run: str) -> str:
    """Give a line of a journal: `body` is a JSON object, `run` is empty for the first line."""
    head = f'{body[:-1]},"seal":"{number} {run or digest(body.encode())} '
    return f'{head}{digest(head.encode())}"}}'


def digest(data: bytes) -> str:
    """Give 16 hexadecimal digits, by which accidents show."""
    return hashlib.sha256(data).hexdigest()[:16]


def read_journal_text(data: bytes) -> JournalText:
    """Judge every line. Never raises: what is spoilt is among `damage`."""
    *lines, rest = data.split(b"\n", MAX_LINES)
    judge = _Judge()
    for place, line in enumerate(lines, 1):
        judge.take(place, line)
    damage, more = judge.damage, rest.count(b"\n")
    if more:
        found = f"from here on nothing was read: no run has more than {MAX_LINES} lines"
        damage = [*damage, Damage(MAX_LINES + 1, found, more)]
    return JournalText(
        entries=tuple(judge.entries),
        damage=tuple(damage),
        lines=len(lines) + more,
        size_bytes=len(data),
        torn_bytes=len(rest.rpartition(b"\n")[2]),
        run=judge.run,
        number=judge.number,
        numbers=tuple(judge.numbers),
        begins_sealed=judge.begins_sealed,
    )


class _Judge:
    """Takes line after line, and keeps those that follow from the ones before."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.damage: list[Damage] = []
        self.numbers: list[int] = []
        self.run = ""
        self.begins_sealed = False
        self._number = 0
        """Of the last line that was kept, in the run."""
        self._spoilt = 0
        """Lines of the run since then that are not known."""
        self._steps = 0
        self._is_sealed = False
        self._is_foreign = False
        self._stages_are_known = True

    @property
    def number(self) -> int:
        """Of the last line of the run, known or not."""
        return self._number + self._spoilt

    def take(self, place: int, line: bytes) -> None:
        """Judge the line at `place`."""
        seal = _SEAL.search(line)
        if seal is None:
            self._take_bare(place, line)
            return
        if digest(line[: seal.start(3)]) != seal[3].decode():
            self._refuse(place, "its checksum is wrong")
            return
        number, run, body = int(seal[1]), seal[2].decode(), line[: seal.start()] + b"}"
        if (self.run or run) != run:
            self._refuse(place, "it is of another run", lost=0)
            return
        if number <= self._number:
            self._refuse(place, f"it is line {number} once more", lost=0)
            return
        self.run, self._is_sealed = run, True
        if (missing := number - 1 - self.number) > 0:
            gone = "1 line is" if missing == 1 else f"{missing} lines are"
            self.damage.append(Damage(place, f"before it, {gone} missing", missing))
            self._spoilt += missing
        self._keep(place, number, body)

    def _take_bare(self, place: int, line: bytes) -> None:
        if self._is_sealed:
            self._refuse(place, "it has no checksum, and a line before it has one")
        elif self._is_of_another_run(line):
            self._refuse(place, "it is of another run, or appears twice", lost=0)
        else:
            self._keep(place, self.number + 1, line)
            if place == 1 and self.entries:
                self.run = digest(line)

    def _is_of_another_run(self, line: bytes) -> bool:
        """Tell it by a beginning where no stage can begin; older releases numbered no line."""
        if line.startswith(b'{"kind":"begun"') and self.entries:
            self._is_foreign = not isinstance(self.entries[-1], Staged) and not self._spoilt
            # The first line once more is not followed by another run's.
            is_twice = digest(line) == self.run
            if self._is_foreign and is_twice:
                self._is_foreign = False
                return True
        return self._is_foreign

    def _keep(self, place: int, number: int, body: bytes) -> None:
        try:
            entry = read_record(ENTRY, body)
        except ValueError as error:
            self._refuse(place, f"not a journal entry: {_why(error)}")
            return
        if why := self._why_not(entry):
            self._refuse(place, why)
            return
        self.begins_sealed |= self._is_sealed and not self.entries
        self.entries.append(entry)
        self.numbers.append(number)
        self._number, self._spoilt = number, 0
        if isinstance(entry, Begun):
            self._steps += len(entry.plan.steps)

    def _why_not(self, entry: Entry) -> str:
        """Say why an entry cannot follow those that were kept; nothing where it can."""
        last = self.entries[-1] if self.entries else None
        if isinstance(entry, Begun):
            if last is None and not self.damage:
                return ""
            follows = isinstance(last, Staged) and not self._spoilt and self._stages_are_known
            return "" if follows else "what it begins does not follow the lines before it"
        if last is None:
            return "the line with the plan is not before it"
        if isinstance(entry, Staged) and isinstance(last, Staged):
            self._stages_are_known = False
        numbers = list(entry.states) if isinstance(entry, Stood) else []
        numbers += [entry.number] if hasattr(entry, "number") else []
        for number in numbers:
            if not 0 <= number < self._steps:
                # A stage whose beginning is lost: where later ones begin is not known either.
                self._stages_are_known = False
                return f"it names step {number + 1}, and the plan has steps 1 to {self._steps}"
        return ""

    def _refuse(self, place: int, found: str, lost: int = 1) -> None:
        self.damage.append(Damage(place, found, lost))
        self._spoilt += lost


def _why(error: ValueError) -> str:
    """Give the gist of what pydantic says, without the words of the line."""
    errors = getattr(error, "errors", None)
    if errors is None:
        return "not readable"
    first = errors(include_input=False, include_url=False)[0]
    return str(first["type"]).replace("_", " ")
