"""An answer to a question of design: choices with their figures, and how sure each of them is."""

from enum import StrEnum

from wirespeed.model.frozen import Frozen


class Certainty(StrEnum):
    """Where a figure or a statement comes from."""

    MEASURED = "measured with wirespeed"
    PUBLISHED = "published, on other hardware"
    STANDARD = "by the standard"
    VENDOR = "by its vendor"
    COMPUTED = "computed"
    UNKNOWN = "not known"


class Ground(Frozen):
    """A statement that an answer rests on."""

    says: str
    certainty: Certainty
    source: str


class Choice(Frozen):
    """One of the things that can be done."""

    name: str
    gbps_low: float | None
    """Gb/s that it carries, least and most; the same where one figure is known."""
    gbps_high: float | None
    cpu_percent: str
    """Of the whole host, as it was published; empty where nobody says."""
    certainty: Certainty
    note: str = ""


class Advice(Frozen):
    """The answer."""

    question: str
    """As it was understood."""
    answer: str
    choices: tuple[Choice, ...]
    """The best first, where one is."""
    todo: tuple[str, ...] = ()
    """Acts, in order; what begins with `$ ` is typed on Linux, with `> ` on Windows."""
    grounds: tuple[Ground, ...] = ()
    unknown: tuple[str, ...] = ()
    """What the answer does not rest on, and how to find it out."""
