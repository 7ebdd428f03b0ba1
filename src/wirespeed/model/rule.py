"""What a rule is: one condition, pure, over the facts of a host."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from wirespeed.model.bound import Bound
from wirespeed.model.ceiling import Ledger
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Change, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError
from wirespeed.model.port import Port
from wirespeed.model.question import Purpose, Question
from wirespeed.model.symptom import Symptom

T = TypeVar("T")


class DoesNotApplyError(Exception):
    """A rule is not about this host or port; its text says why."""

    def __init__(self, why: str, unused: str = "") -> None:
        super().__init__(why)
        self.unused = unused
        """Option that the user gave and that does nothing without another: `--peer`."""


@dataclass(frozen=True, slots=True)
class HostExam:
    """What a rule about a whole host is given, and how it words what it finds."""

    slug: str
    """Of the rule."""
    host: HostFacts
    question: Question
    ports: tuple[Port, ...]
    """All ports of the host."""

    @property
    def place(self) -> str:
        """What a finding is about, unless it names another thing: the host."""
        return self.host.name

    def finding(
        self,
        severity: Severity,
        evidence: tuple[Evidence, ...],
        *,
        so: str,
        where: str = "",
        remedies: tuple[Remedy, ...] = (),
        changes: tuple[Change, ...] = (),
        bounds: tuple[Bound, ...] = (),
        unpriced: str = "",
    ) -> Finding:
        """Make a finding of this rule, about `where` or the exam's own place."""
        return Finding(
            rule=self.slug,
            where=where or self.place,
            severity=severity,
            evidence=evidence,
            so=so,
            remedies=remedies,
            changes=changes,
            bounds=bounds,
            unpriced=unpriced,
        )


@dataclass(frozen=True, slots=True)
class PortExam(HostExam):
    """What a rule about one port is given."""

    port: Port
    ledger: Ledger

    @property
    def place(self) -> str:
        """What a finding is about, unless it names another thing: the port."""
        return self.port.name

    @property
    def kernel_netdev(self) -> str:
        """The netdev whose frames the kernel moves. Raises DoesNotApplyError where DPDK does."""
        if self.port.netdev is None:
            raise DoesNotApplyError("the kernel does not own this port: it has no netdev")
        if self.question.purpose is Purpose.DPDK:
            raise DoesNotApplyError("DPDK moves the frames: the kernel's queues do not matter")
        return self.port.netdev


@dataclass(frozen=True, slots=True)
class FigureExam(HostExam):
    """What a rule about a measured figure is given."""

    measured_bps: float
    """Goodput of one direction, bits per second."""
    paths: tuple[Ledger, ...]
    """Of the ports that it may have gone by, one at least. Each has a link, or may have one."""

    @property
    def place(self) -> str:
        """What a finding is about, unless it names another thing: the port, if only one may be."""
        return self.paths[0].port if len(self.paths) == 1 else self.host.name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    slug: str
    """`area.condition`, as in `pcie.width_below_capability`."""
    title: str
    """The condition in a few words, for a list."""
    why: str
    """What it costs and why, in a few sentences for an administrator."""
    source: str
    """Where that is known from: a standard, a manual, a kernel document, a paper."""
    purposes: frozenset[Purpose] | None = None
    """The purposes that it matters for; None: all."""
    price: str = ""
    """The formula of its price or bound; empty: it has neither."""
    shows: tuple[Symptom, ...] = ()
    """What its findings are to other rules."""
    explains: tuple[Symptom, ...] = ()
    """What its condition brings about at the same place, as far as `why` and `source` say it."""
    explains_runs: bool = True
    """Whether a low figure that it explains may be of a test of the network, as of iperf3."""
    first: tuple[Symptom, ...] = ()
    """What has to end before its remedy is safe, or has an effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRule(_Rule):
    """A condition of the host as a whole."""

    check: Callable[[HostExam], Iterable[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortRule(_Rule):
    """A condition of one port. `check` gives its findings.

    It raises CannotTellError (through `known`) when a fact is missing, and DoesNotApplyError when
    the port is not of the kind that it is about. It does no I/O.
    """

    check: Callable[[PortExam], Iterable[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRule(_Rule):
    """A condition of a figure that the user measured, on whatever platform."""

    check: Callable[[FigureExam], Iterable[Finding]]


Rule = HostRule | PortRule | FigureRule


def of_each(things: Iterable[T], check: Callable[[T], Iterable[Finding]]) -> Iterator[Finding]:
    """Ask about each; an unknown value of one does not suppress the findings of the others.

    Raises CannotTellError for the first of them where nothing is found.
    """
    found: list[Finding] = []
    unknown: CannotTellError | None = None
    for thing in things:
        try:
            found += check(thing)
        except CannotTellError as error:
            unknown = unknown or error
    if unknown is not None and not found:
        raise unknown
    yield from found
