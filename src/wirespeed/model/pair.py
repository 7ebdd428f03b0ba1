"""What the doctor says of two ends of one cable, beside its answer about each host."""

from typing import Literal

from wirespeed.model.ceiling import Band
from wirespeed.model.command import Command
from wirespeed.model.finding import Severity
from wirespeed.model.frozen import Frozen


class SeenAt(Frozen):
    """One thing that was seen at one end, and how anyone can see it again there."""

    host: str
    found: str
    source: str
    """A command for a shell on that host."""


class CommandAt(Frozen):
    """What a person types at one end."""

    host: str
    command: Command


class PairFinding(Frozen):
    """A condition of the two together that is present."""

    rule: str
    """Condition slug: `pair.mtu`."""
    severity: Severity
    evidence: tuple[SeenAt, ...]
    so: str
    do: str
    commands: tuple[CommandAt, ...] = ()


class PairVerdict(Frozen):
    """What a rule said of the two when it found nothing."""

    rule: str
    outcome: Literal["absent", "cannot tell", "does not apply"]
    reason: str
    would_tell: str = ""
    """With `cannot tell`: the command that would tell."""


class ElementAt(Frozen):
    """An element of the path, and at which end it is."""

    host: str
    element: str
    """As in `Ceiling.element`."""


class PathCeiling(Frozen):
    """The most that the whole path carries one way: the smaller of what both hosts carry."""

    sender: str
    receiver: str
    frame_bytes: int
    """With FCS."""
    load_pps: Band | None = None
    """Frames per second; None: it is not known, for the reason given."""
    bound_by: tuple[ElementAt, ...] = ()
    """Every element that may be the lowest, lowest first."""
    reason: str = ""


class PairAnswer(Frozen):
    """The doctor's answer about two ends of one cable."""

    between: tuple[str, str]
    """`alpha:p0` and `beta:p0`."""
    findings: tuple[PairFinding, ...] = ()
    """Worst first."""
    verdicts: tuple[PairVerdict, ...] = ()
    ceilings: tuple[PathCeiling, ...] = ()
    """Of both ways."""
