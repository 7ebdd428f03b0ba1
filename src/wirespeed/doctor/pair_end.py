"""An end of a cable, and a rule about two of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import Link, link_of
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known, Observed
from wirespeed.model.pair import CommandAt, PairFinding, PairVerdict, SeenAt
from wirespeed.model.port import Port


@dataclass(frozen=True, slots=True)
class End:
    """One end of the cable."""

    name: str
    """Of the host, as the user says it."""
    host: HostFacts
    port: Port

    @property
    def label(self) -> str:
        """`alpha:p0`."""
        return f"{self.name}:{self.port.name}"

    def link(self) -> Link:
        """Give its link. Raises DoesNotApplyError where none can be looked at."""
        return link_of(self.host, self.port)

    def saw(self, observed: Observed[object], found: str) -> SeenAt:
        """Make evidence of what was read here."""
        return SeenAt(host=self.name, found=found, source=observed.source)

    def ethtool(self, *arguments: str) -> CommandAt:
        """Give a command of ethtool for this port: the option, then what follows the netdev."""
        option, *rest = arguments
        return CommandAt(
            host=self.name, command=ethtool_command(option, self.port.netdev or "", *rest)
        )


Said = PairFinding | PairVerdict


@dataclass(frozen=True, slots=True)
class PairRule:
    """A condition of two ends together."""

    slug: str
    title: str
    check: Callable[[str, End, End], Iterable[Said]]
    """Of its slug and the ends. Raises CannotTellError, DoesNotApplyError."""
    why: str
    """What it costs, and how it is told."""
    source: str
    """Where that is known from."""
    each_way: bool = False
    """Asked of both directions: the first end sends."""


def cannot_tell(slug: str, reason: str, would_tell: str) -> PairVerdict:
    """Make the verdict of a rule that lacks a fact."""
    return PairVerdict(rule=slug, outcome="cannot tell", reason=reason, would_tell=would_tell)


def alike(slug: str, reason: str) -> PairVerdict:
    """Make the verdict of a rule that looked and found nothing: what both ends have."""
    return PairVerdict(rule=slug, outcome="absent", reason=reason)


def read_at(end: End, observed: Observed[object], what: str) -> None:
    """Raise CannotTellError, with the end at which it was not read."""
    if not isinstance(observed, Known):
        raise CannotTellError(
            f"{what} at {end.name}: {observed.reason}", f"{observed.source} (on {end.name})"
        )


def are_up(first: End, second: End) -> bool:
    """Tell whether both have a carrier. Raises CannotTellError, DoesNotApplyError."""
    up = []
    for end in (first, second):
        is_up = end.link().is_up
        read_at(end, is_up, "whether there is a carrier")
        up.append(isinstance(is_up, Known) and is_up.value)
    return all(up)
