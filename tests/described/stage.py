"""A document as stages of one host: as found, and after each of its steps."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from described.host import DescriptionError, Host
from wirespeed.model.question import Question


@dataclass(frozen=True)
class Stage:
    """What the host is like after a step."""

    name: str
    says: str
    """The document's own words for what is wrong now, or right at last."""
    step: Callable[[Host], None]
    """What the document does to come here from the stage before; of the first one, to be found."""
    first: str | None
    """The rule whose finding comes first; None: none above a note but `ceilings`."""
    question: Question = field(default_factory=Question)
    notes: tuple[str, ...] = ()
    """Rules that say it as a note, where it costs nothing by itself."""
    ceilings: tuple[str, ...] = ()
    """Rules of what bounds the path with nothing wrong: they may stay to the end."""


@dataclass(frozen=True)
class StagedHost:
    """A host at one stage."""

    document: str
    number: int
    stage: Stage
    before: tuple[Stage, ...]
    host: Host


def staged(document: str, stages: Sequence[Stage]) -> Iterator[StagedHost]:
    """Every stage in turn. Raises DescriptionError where a step changes nothing."""
    host = Host()
    for number, stage in enumerate(stages):
        before = host
        host = before.copy()
        stage.step(host)
        if host == before:
            raise DescriptionError(f"{document}, {stage.name}: the step changes nothing")
        yield StagedHost(document, number, stage, tuple(stages[:number]), host)
