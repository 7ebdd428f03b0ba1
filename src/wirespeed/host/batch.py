"""Hosts that are on their way to be read."""

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from wirespeed.host.capture_request import Captured, Progress, Unreachable
from wirespeed.host.reach_destination import Destination
from wirespeed.model.error import WirespeedError

D = TypeVar("D", bound=Destination)


class Batch(Protocol):
    """Destinations of one kind. What can be under way at once is so from the start."""

    def results(self, progress: Progress) -> Iterator[Captured | Unreachable]:
        """Give one for each destination, as they come."""
        ...

    def close(self) -> None:
        """End what is under way; returns within seconds."""
        ...


class OneByOne(Generic[D]):
    """Destinations that are read in the caller's thread, one after another."""

    def __init__(
        self, places: Sequence[D], read: Callable[[D], Captured], doing: str = "connecting"
    ) -> None:
        self._places, self._read, self._doing = places, read, doing

    def results(self, progress: Progress) -> Iterator[Captured | Unreachable]:
        """Give one for each, in their order."""
        for place in self._places:
            progress(place, self._doing)
            try:
                found: Captured | Unreachable = self._read(place)
            except WirespeedError as error:
                found = Unreachable(place, error)
            yield found

    def close(self) -> None:
        """Do nothing: between two results nothing is under way."""
