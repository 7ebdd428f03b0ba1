"""How hosts of a kind are reached: what reads them, what runs commands there, what changes them.

Each folder of `platforms/` has an ACCESS in its `access.py`; `catalog.accesses` finds them, Linux
first, and loads the others when a destination is not of Linux: their libraries take longer to load
than all of a local run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Protocol

from wirespeed.catalog import accesses

if TYPE_CHECKING:
    from wirespeed.apply.control_posix import PosixControl
    from wirespeed.host.batch import Batch
    from wirespeed.host.capture_request import CaptureRequest
    from wirespeed.host.reach_destination import Destination
    from wirespeed.host.runner import Runner
    from wirespeed.measure.workload.watch import CounterSource
    from wirespeed.model.fact import HostFacts
    from wirespeed.model.spec.spec import Spec
    from wirespeed.model.step import Step


class CardEnd(Protocol):
    """Gives the step that sets the speed of a card."""

    def __call__(
        self, facts: HostFacts, name: str, link_bps: int | None, card_is: int | str | None, /
    ) -> Step:
        """Give it; `link_bps` None: it negotiates. Raises InputError `link.*`.

        `card_is`: what a person read that it is set to, in bit/s or `auto`; None: nobody said.
        """
        ...


class Turn(IntEnum):
    """When results are waited for, so that what is slow holds up nothing."""

    HERE = 0
    """In the caller's thread, and soon there, while the others are on their way."""
    AT_ONCE = 1
    """All under way from the start."""
    ONE_BY_ONE = 2
    """Each begun when the one before has ended."""


@dataclass(frozen=True, slots=True)
class Way:
    """What leads to hosts of one kind of destination."""

    leads_to: type[Any]
    """A class of `host/reach_destination.py`."""
    batch: Callable[[Sequence[Any], CaptureRequest, int], Batch]
    """Reads captures of many at once; the number is how many at a time."""
    turn: Turn
    """When its results are waited for."""
    runner: Callable[[Any, ExitStack], Runner] | None = None
    """Runs commands there until the stack ends; None: this way runs none."""
    control: Callable[[str, Runner], PosixControl] | None = None
    """Changes the host, by what runs commands there; None: as on Linux."""
    counters: Callable[[Runner], CounterSource] | None = None
    """Reads the host's counters while something else runs; None: as on Linux."""
    card_end: CardEnd | None = None
    """Gives the step of a card whose speed is not set as on Linux, where that is so."""
    approaches: tuple[str, ...] | None = None
    """Whose specs may name such a host; None: all."""
    instead: str = ""
    """The approach that is for such hosts, where another does not take them."""


@dataclass(frozen=True, slots=True)
class Access:
    """All that leads to hosts of one kind."""

    name: str
    """As an error says it: `Windows`, `ESXi`."""
    ways: tuple[Way, ...] = ()
    spec: type[Spec] | None = None
    """Whose hosts are reached as only this kind is."""
    controls: Callable[[Any], AbstractContextManager[dict[str, PosixControl]]] | None = None
    """Of such a spec: control of each of its hosts, each with a connection of its own."""
    facts: Callable[[Any, Mapping[str, PosixControl]], dict[str, HostFacts]] | None = None
    """Of such a spec, where its hosts are read by what controls them; None: as others are."""


def route_to(place: Destination) -> tuple[Access, Way] | None:
    """Give what leads there, and to which kind of host; None: a file."""
    for access in accesses():
        for way in access.ways:
            if isinstance(place, way.leads_to):
                return access, way
    return None


def access_for(spec: Spec) -> Access | None:
    """Give what leads to the hosts of a spec as to no others; None: each as its address says."""
    return next((a for a in accesses() if a.spec is not None and isinstance(spec, a.spec)), None)
