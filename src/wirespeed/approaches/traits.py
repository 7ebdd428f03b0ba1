"""What the planner, a proof and a comparison know of an approach; its file has it, as APPROACH."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from wirespeed.ceilings.encapsulation import Encapsulation
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec.spec import Spec
from wirespeed.model.step import Step

S = TypeVar("S", bound=Spec)
"""The spec of an approach."""


@dataclass(frozen=True, slots=True)
class RequestedStep:
    """One step, in its place."""

    step: Step
    is_made: bool = False
    """An earlier step makes what it is about, where it is not there: that it cannot be read yet
    is no obstacle."""
    guest: str = ""
    """The virtual machine that it runs in, by its name in the spec, or the other side of the host
    (`desk.windows`); else it runs on the host."""


class Feature(StrEnum):
    """What approaches are compared by, whatever is measured; in this order."""

    SEGMENTS = "Segments"
    NETWORK_BETWEEN = "Needs of the network between"
    FAILOVER = "Fail-over is done by"
    MOVES_FRAMES = "Who moves the frames"
    FILTERS = "Filters and rules between guests"
    PROGRAMS = "Runs besides the kernel"
    DAEMON_STOPS = "When its daemon stops"
    OTHER_PORTS = "vDPA and sub-functions"
    DRIVER = "Driver of a ConnectX-5, as published"


@dataclass(frozen=True, slots=True)
class Compared(Generic[S]):
    """Of an approach that brings about networks of guests: what it has, and when to take it.

    The experience with drivers is that of *SR-IOV with a ConnectX-5* (docs/published-figures.md):
    Debian 13, ConnectX-5 Ex.
    """

    simplicity: int
    """1: the least to install, to keep running, and to understand when it fails."""
    place: int
    """Where it stands in a comparison."""
    features: Mapping[Feature, str]
    take_it_when: Callable[[S], str]
    leave_it_when: Callable[[S], str]
    encapsulation: Callable[[S], tuple[Encapsulation, int]]
    """What frames are put into, and the version of the outer IP."""
    software_paths: tuple[str, ...] = ()
    """DUTs of `wirespeed measure rfc2544` that are its path in software: through its tunnel, and
    the same switch without one."""
    no_path: str = ""
    """Why there is none."""


class Between(StrEnum):
    """What a proof measures between (`runs/measuring.py`)."""

    GUESTS = "guests"
    HOSTS = "hosts"
    FORWARDER = "forwarder"
    """From a tester through a forwarder, by RFC 2544."""


@dataclass(frozen=True, slots=True)
class Proven:
    """How a proof measures it."""

    between: Between | None = None
    """None: wirespeed cannot measure it."""
    no_switch: str = ""
    """Why frames pass no switch of the host; empty: they pass one, whose flows are read."""
    has_tunnel_netdev: bool = False
    """Its tunnels have a netdev of the kernel's, where packets are counted."""
    partly_offloaded: str = ""
    """Which direction of a tunnel the card does not take, and by which build of the switch; empty:
    it takes both."""


@dataclass(frozen=True, slots=True)
class ApproachTraits(Generic[S]):
    """How guests come to the card."""

    spec: type[S]
    """What a spec of it says (`model/spec/members.py`)."""
    steps: Callable[[S, str, HostFacts], Iterator[RequestedStep]]
    """Of one host of the spec, by its facts. Raises InputError `spec.*`, CannotTellError."""
    proof: Proven = field(default=Proven())
    comparison: Compared[S] | None = None
    """None: it makes no network of guests, and stands beside no other."""
    is_exported: bool = False
    """Whether its hosts can be written as files of other tools (`formats/`): their ports are set up
    by settings of each, and what is beyond these is listed."""
    has_cards_elsewhere: bool = False
    """Whether the cards of its ports are not the host's own: its boot then waits for netdevs."""

    @property
    def name(self) -> str:
        """Give the word after `approach:` in a spec."""
        return str(self.spec.model_fields["approach"].default)
