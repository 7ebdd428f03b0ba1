"""What each CPU's softirq took in and dropped between the two readings of the capture."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.cpu import Cpus
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Known, Observed, Unreadable, read_as

SOURCE = "cat /proc/net/softnet_stat"
WRAP = 1 << 32
"""The kernel counts and prints 32 bits."""
NAMES_ITS_CPU = 13
"""Columns of a line of which the 13th is the CPU's number."""


@dataclass(frozen=True, slots=True)
class SoftnetDelta:
    """Counted by one CPU between the two readings."""

    cpu: int
    processed: int
    """Frames: from its ports' rings, and from its backlog."""
    dropped: int
    """Frames that its backlog (RPS, veth, loopback, tunnels) had no room for."""
    squeezed: int
    """Times that its budget ended with work left to do: later, not lost."""


@dataclass(frozen=True, slots=True)
class Softnet(Fact):
    """Every CPU's deltas."""

    by_cpu: Observed[tuple[SoftnetDelta, ...]]

    script: ClassVar[str] = "show softnet - grep '' /proc/net/softnet_stat\n"
    script_again: ClassVar[str] = "show softnet-again - grep '' /proc/net/softnet_stat\n"

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `softnet` and `softnet-again`; kernels before 5.10 do not say which CPU it is."""
        rows: list[list[tuple[int, int, int, int]]] = []
        for name in ("softnet", "softnet-again"):
            text = read_as(capture.text(name, SOURCE), lambda text: _rows(text, capture))
            if not isinstance(text, Known):
                return cls(text)
            rows.append(text.value)
        before = {row[0]: row for row in rows[0]}
        return cls(
            Known(tuple(_delta(before[row[0]], row) for row in rows[1] if row[0] in before), SOURCE)
            if before
            else Unreadable("it is empty", SOURCE)
        )


def _rows(text: str, capture: Capture) -> list[tuple[int, int, int, int]]:
    """CPU, processed, dropped and squeezed of each line; in order of CPUs where it names none."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    cpus: list[int] = []
    if any(len(words) < NAMES_ITS_CPU for words in lines):
        online = Cpus.parse(capture).online
        cpus = sorted(online.value) if isinstance(online, Known) else []
    rows = []
    for number, words in enumerate(lines):
        if len(words) < 3:
            raise ValueError(f"{' '.join(words)[:40]!r} is not a line of softnet_stat")
        cpu = cpus[number] if len(cpus) == len(lines) else number
        if len(words) >= NAMES_ITS_CPU:
            cpu = int(words[12], 16)
        rows.append((cpu, int(words[0], 16), int(words[1], 16), int(words[2], 16)))
    return rows


def _delta(before: tuple[int, int, int, int], after: tuple[int, int, int, int]) -> SoftnetDelta:
    processed, dropped, squeezed = (
        (later - earlier) % WRAP for earlier, later in zip(before[1:], after[1:], strict=True)
    )
    return SoftnetDelta(after[0], processed, dropped, squeezed)
