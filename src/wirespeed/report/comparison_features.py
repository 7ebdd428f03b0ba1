"""What approaches have and lack by design, and when each is the one to take: as their files say."""

from typing import Any

from wirespeed.approaches.traits import Compared, Feature
from wirespeed.catalog import approaches

FEATURES = tuple(Feature)


def comparable() -> tuple[str, ...]:
    """Give those that bring about the same networks and guests, in the order of a page."""
    found = [(one.comparison.place, one.name) for one in approaches().values() if one.comparison]
    return tuple(name for _, name in sorted(found))


def why_not(approach: str) -> str:
    """Say why one cannot be compared; empty where it can, or where there is no such approach."""
    found = approaches().get(approach)
    if found is None or found.comparison is not None:
        return ""
    return (
        f"approach: {approach} makes no network of guests, and networks of guests are what is "
        "compared"
    )


def simplest_first() -> tuple[str, ...]:
    """Give them by how much there is to install, to keep running and to understand."""
    return tuple(sorted(comparable(), key=lambda name: traits_of(name).simplicity))


def traits_of(approach: str) -> Compared[Any]:
    """Give what is said of one that can be compared."""
    found: Compared[Any] | None = approaches()[approach].comparison
    if found is None:
        raise AssertionError(f"{approach} is not compared")
    return found
