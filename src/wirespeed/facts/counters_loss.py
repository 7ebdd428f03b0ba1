"""What a port lost at one place: during the capture, or before it; and how anyone can see it."""

from dataclasses import dataclass

from wirespeed.facts.counters import Counters, Delta, Place
from wirespeed.facts.counters_places import CONTAINED
from wirespeed.model.finding import Evidence, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.port import Port
from wirespeed.model.rule import DoesNotApplyError

SILENT_SHARE = 1e-6
"""What was lost before the capture is told from here on: fewer are a cable pulled, a boot."""

SHOWN = 3
"""Names of counters that a line has room for: a card may have one for each queue."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A place that counted."""

    place: Place
    now: Delta | None
    """During the capture; None: it stood still, and what it shows is older."""
    share: float
    """Of the frames there, 0 to 1: during the capture, or since the driver was loaded."""
    evidence: tuple[Evidence, ...]

    @property
    def severity(self) -> Severity:
        """What is old may be mended long since."""
        return Severity.FAULT if self.now else Severity.NOTE

    @property
    def are(self) -> str:
        """The verb for what is lost."""
        return "are" if self.now else "were, before this capture,"

    @property
    def share_now(self) -> float | None:
        """The share that is lost now; None for what is older than the capture."""
        return self.share if self.now else None

    @property
    def unpriced(self) -> str:
        """Say what was measured in place of a price."""
        if self.now is None:
            return "it did not grow during the capture"
        return (
            f"measured: {self.now.per_second:.0f} a second; what a sender slows down for it "
            "depends on its protocol"
        )


def loss_at(counters: Counters, port: Port, place: Place, among: Place) -> Loss | None:
    """Give what was counted at `place`, as a share of the frames at `among`; None: next to nothing.

    Raises DoesNotApplyError where the port has no such counter, CannotTellError where it was reset
    or could not be read.
    """
    delta = counters.delta(port.netdev, place)
    if isinstance(delta, Absent):
        raise DoesNotApplyError(f"{place}: {delta.reason}")
    lost = known(delta, place)
    total = known(counters.total(port.netdev, place), place)
    passed = known(counters.delta(port.netdev, among), among)
    passed_total = known(counters.total(port.netdev, among), among)
    holds_lost = any(place in CONTAINED.get(name, ()) for name in passed.counters)
    if lost.count > 0:
        share = _share(lost.count, passed.count, holds_lost=holds_lost)
        text = (
            f"{_names(lost.grown)} grew by {lost.count} in {lost.seconds:.2f} s, {_percent(share)}"
        )
        evidence = (
            Evidence(found=text, source=delta.source),
            Evidence(found=f"{passed.count} {among} in that time", source=delta.source),
        )
        return Loss(place, lost, share, evidence)
    share = _share(total, passed_total, holds_lost=holds_lost)
    if share < SILENT_SHARE:
        return None
    text = (
        f"{_names(lost.counters)}: {total} since the driver was loaded, {_percent(share)}; none now"
    )
    return Loss(place, None, share, (Evidence(found=text, source=delta.source),))


def _share(lost: int, passed: int, *, holds_lost: bool) -> float:
    """Lost frames as a share of all that came, 0 to 1; `holds_lost`: `passed` counts them too."""
    if not lost:
        return 0.0
    return lost / (max(lost, passed) if holds_lost else lost + passed)


def _names(counters: tuple[str, ...]) -> str:
    return " + ".join(counters[:SHOWN]) + (" + …" if len(counters) > SHOWN else "")


def _percent(share: float) -> str:
    return f"{100 * share:.2g} % of the frames"
