"""Hosts of a spec that are captures in files: one is read when it is asked for, and then dropped.

A thousand captures are 200 MB; a plan needs one of them at a time.
"""

from collections.abc import Container, Iterator, Mapping
from typing import TypeVar

from wirespeed.apply.control_recorded import RecordedControl
from wirespeed.apply.recorded_answers import RecordedAnswers
from wirespeed.doctor.collector import collector_script
from wirespeed.host.reach_destination import Recorded
from wirespeed.model.capture import Capture, parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.platforms.esxi.collector import esxi_collector_script
from wirespeed.runs.plan_hosts import require_whole
from wirespeed.runs.reach import recorded_text

T = TypeVar("T", covariant=True)
READINGS = ".more"
"""After the name of a capture: the file of what it lacked."""


class RecordedFacts(Mapping[str, HostFacts]):
    """Facts of recorded hosts by name; those of the last one asked for are kept."""

    def __init__(self, places: Mapping[str, Recorded]) -> None:
        self._places = places
        self._last: HostFacts | None = None

    def __getitem__(self, name: str) -> HostFacts:
        """Read a capture.

        Raises InputError `file.*`, `capture.*`, HostError `host.half_read`; KeyError for another
        host.
        """
        place = self._places[name]
        if self._last is None or self._last.name != name:
            capture = parse_capture(recorded_text(place.path), place.text)
            require_whole(place.text, capture)
            capture = _with_readings(capture, place)
            self._last = HostFacts(name, capture)
        return self._last

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _with_readings(capture: Capture, place: Recorded) -> Capture:
    """Add what the script of `wirespeed plan --unread` printed, if it lies beside the capture."""
    path = place.path.with_name(place.path.name + READINGS)
    if not path.is_file():
        return capture
    more = parse_capture(recorded_text(path), str(path))
    require_whole(str(path), more)
    return Capture((*capture.all_sections(), *more.all_sections()), complete=True)


class RecordedControls(Mapping[str, RecordedControl]):
    """Control of recorded hosts by name, which read from the same captures, and of their guests.

    A capture has nothing from within a virtual machine: all of it is unreadable.
    """

    def __init__(self, facts: RecordedFacts, guests: Container[str]) -> None:
        self._facts, self._guests = facts, guests
        self._answers = RecordedAnswers(collector_script() + esxi_collector_script())

    def __getitem__(self, name: str) -> RecordedControl:
        """Give those of one host. Raises as `RecordedFacts` does."""
        inside = Capture((), complete=True)
        # A name that is not a host's is of one of its sides, as `desk.windows`.
        host = name if name in self._facts else name.rpartition(".")[0]
        capture = inside if name in self._guests else self._facts[host].capture
        return RecordedControl(capture, self._answers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)


class Either(Mapping[str, T]):
    """Two mappings as one; what the first lacks is asked of the second."""

    def __init__(self, first: Mapping[str, T], second: Mapping[str, T]) -> None:
        self._first, self._second = first, second

    def __getitem__(self, name: str) -> T:
        return self._first[name] if name in self._first else self._second[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._first
        yield from self._second

    def __len__(self) -> int:
        return len(self._first) + len(self._second)
