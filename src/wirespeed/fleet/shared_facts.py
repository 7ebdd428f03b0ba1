"""Facts of many hosts: what two hosts print alike is parsed once. Pure.

A fact is a pure function of the sections that it reads. So where a host has the same text in each
of them as a host before it, the fact of that host is its own. Hosts of one model have CPUs,
modules, settings and firmware in common.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from wirespeed.model.capture import Capture, Section
from wirespeed.model.fact import Fact, FactT, HostFacts

MOST = 8
"""Texts that are remembered for each fact, those first that were used last."""
Key = tuple[str, str | None]
"""Name and subject of a section; the subject None: all sections of the name."""
Text = Section | None | Mapping[str, Section]


class Recorder(Capture):
    """A capture that records what is read of it."""

    def __init__(self, whole: Capture) -> None:
        super().__init__((), complete=whole.complete)
        self._whole = whole
        self.read: dict[Key, Text] = {}
        self.is_read_whole = False

    def section(self, name: str, subject: str = "") -> Section | None:
        """See `Capture.section`."""
        found = self._whole.section(name, subject)
        self.read[name, subject] = found
        return found

    def sections(self, name: str) -> dict[str, Section]:
        """See `Capture.sections`."""
        found = self._whole.sections(name)
        self.read[name, None] = found
        return dict(found)

    def all_sections(self) -> Iterator[Section]:
        """See `Capture.all_sections`."""
        self.is_read_whole = True
        return self._whole.all_sections()


@dataclass(frozen=True, slots=True)
class Remembered:
    """A fact, and all that it was made of."""

    fact: Fact
    complete: bool
    read: Mapping[Key, Text]

    def fits(self, capture: Capture) -> bool:
        """Tell whether a capture has the same text in all that the fact was made of."""
        return self.complete == capture.complete and all(
            (capture.section(name, subject) if subject is not None else capture.sections(name))
            == text
            for (name, subject), text in self.read.items()
        )


@dataclass(slots=True)
class FactMemory:
    """Facts of the hosts that came before."""

    by_fact: dict[type[Fact], list[Remembered]] = field(default_factory=dict)

    def parse(self, fact: type[FactT], capture: Capture) -> FactT:
        """Give the fact of a capture. Raises what its `parse` raises."""
        kept = self.by_fact.setdefault(fact, [])
        for at, one in enumerate(kept):
            if one.fits(capture):
                kept.insert(0, kept.pop(at))
                if not isinstance(one.fact, fact):
                    raise AssertionError(f"{fact.__name__}: another type was remembered")
                return one.fact
        recorder = Recorder(capture)
        found = fact.parse(recorder)
        if not recorder.is_read_whole:
            kept.insert(0, Remembered(found, capture.complete, recorder.read))
            del kept[MOST:]
        return found


class SharedFacts(HostFacts):
    """The facts of one host of many."""

    def __init__(self, name: str, capture: Capture, memory: FactMemory) -> None:
        super().__init__(name, capture)
        self._memory = memory

    def parse(self, fact: type[FactT]) -> FactT:
        """See `HostFacts.parse`."""
        return self._memory.parse(fact, self.capture)
