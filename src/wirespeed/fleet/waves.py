"""Which hosts are changed together, and when a wave has failed. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from wirespeed.model.error import InputError

USUAL = "1,10%,50%,100%"
"""A canary; then up to so many of all hosts."""


@dataclass(frozen=True, slots=True)
class Planned:
    """Waves, and how many of one may fail."""

    waves: tuple[tuple[str, ...], ...]
    bound: float
    """Of a wave, the share that may fail: more, and it is taken back and the fleet stops."""

    def has_failed(self, failed: int, of: int) -> bool:
        """Tell whether more failed than may."""
        return failed > self.bound * of


def cut_waves(names: Sequence[str], steps: str) -> tuple[tuple[str, ...], ...]:
    """Cut `names` at each of `steps`, counted from the first: a number, or a share as `10%`.

    The last is 100 %, whether it is named or not. Raises InputError `waves.invalid`.
    """
    ends = []
    for step in steps.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(%?)\s*", step)
        if match is None or int(match[1]) < 1 or (match[2] and int(match[1]) > 100):
            raise _invalid(steps, f"{step.strip()[:20]!r} is neither a number nor a share")
        end = int(match[1])
        ends.append(min(len(names), ceil(end * len(names) / 100) if match[2] else end))
    if ends != sorted(ends):
        raise _invalid(steps, "each counts all hosts up to it, and one is less than that before")
    cuts = [0, *dict.fromkeys(ends), len(names)]
    found = (tuple(names[a:b]) for a, b in pairwise(cuts))
    return tuple(wave for wave in found if wave)


def spread_over(names: Sequence[str], places: Mapping[str, str]) -> list[str]:
    """Order hosts so that neighbours are in different places: no small wave takes a whole rack."""
    seen: dict[str, int] = {}
    turns = []
    for number, name in enumerate(names):
        place = places.get(name, "")
        turns.append((seen.get(place, 0), number, name))
        seen[place] = seen.get(place, 0) + 1
    return [name for _, _, name in sorted(turns)]


def _invalid(steps: str, found: str) -> InputError:
    return InputError("waves.invalid", where=f"--waves {steps[:60]}", found=found, next=USUAL)
