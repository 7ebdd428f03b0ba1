"""Several approaches to one spec, side by side: what is compared. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from wirespeed.model.spec.spec import Spec
from wirespeed.model.trial import Outcome
from wirespeed.report.proof_answer import emulated_hosts
from wirespeed.report.proof_page import Proof

__all__ = ["EMULATED_SAYS", "Comparison", "NotShown", "Rfc2544"]
EMULATED_SAYS = (
    "a real kernel shows that something works. Its speed says nothing about hardware, and hardly "
    "anything about one approach compared with another."
)


@dataclass(frozen=True)
class NotShown:
    """An approach that could not be built or measured."""

    approach: str
    what: str
    found: str
    next: str
    has_page: bool = False
    """It came so far that its own page says more."""


@dataclass(frozen=True)
class Rfc2544:
    """What the tester measured of the approaches' software paths, on its own machine."""

    outcomes: tuple[Outcome, ...] = ()
    why_not: Mapping[str, str] = field(default_factory=dict)
    """Why there is none of an approach, or not all of it."""


@dataclass(frozen=True)
class Comparison:
    """All of them, in the order in which they were built."""

    spec_name: str
    approaches: tuple[Proof | NotShown, ...]
    spec: Spec
    """As it was given: with the one approach that it names."""
    rfc2544: Rfc2544 = field(default_factory=Rfc2544)

    @property
    def proofs(self) -> tuple[Proof, ...]:
        """Those that came to their end."""
        return tuple(one for one in self.approaches if isinstance(one, Proof))

    @property
    def not_shown(self) -> tuple[NotShown, ...]:
        """The others."""
        return tuple(one for one in self.approaches if isinstance(one, NotShown))

    @property
    def emulated(self) -> tuple[str, ...]:
        """Hosts whose CPU is emulated."""
        return tuple(dict.fromkeys(host for proof in self.proofs for host in emulated_hosts(proof)))

    @property
    def names(self) -> tuple[str, ...]:
        """Every approach, shown or not."""
        return tuple(map(approach_of, self.approaches))


def approach_of(one: Proof | NotShown) -> str:
    """Name it."""
    return one.approach if isinstance(one, NotShown) else one.opening.spec.approach
