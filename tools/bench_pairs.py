"""Measures two things side by side, A B A B, until there are enough undisturbed pairs."""

from collections.abc import Callable
from typing import Generic, TypeVar

from bench_figures import Figure, Result, Unmeasured
from wirespeed.host.clock import sleep_s

PAIRS = 7
MAX_VOID = 20
"""Disturbed pairs before a goal is given up as not measurable here."""
_PATIENCE_S = 0.5
"""What disturbed one sample often goes on for a while."""
A = TypeVar("A")
B = TypeVar("B")


class DisturbedError(Exception):
    """A sample that says nothing: the machine or the tester was at fault."""


class Pairs(Generic[A, B]):
    """Samples of `ours` and `beside` in turn. A disturbed pair is made again.

    Both raise DisturbedError. After MAX_VOID of them there are fewer than `n`, and `why` says so.
    """

    def __init__(self, ours: Callable[[], A], beside: Callable[[], B], n: int = PAIRS) -> None:
        self.samples: list[tuple[A, B]] = []
        self.void, self.why, self._wanted = 0, "", n
        while len(self.samples) < n and self.void <= MAX_VOID:
            try:
                self.samples.append((ours(), beside()))
            except DisturbedError as error:
                self.void, self.why = self.void + 1, str(error)
                sleep_s(_PATIENCE_S)

    def result(
        self, name: str, ours: Callable[[A], float], beside: Callable[[B], float], *notes: str
    ) -> Result:
        """Take one figure out of every sample."""
        if len(self.samples) < self._wanted:
            why = f"{self.void} disturbed pairs; the last: {self.why}"
            return Unmeasured(name=name, why=why, excused=False)
        return Figure(
            name=name,
            ours=tuple(ours(a) for a, _ in self.samples),
            beside=tuple(beside(b) for _, b in self.samples),
            void=self.void,
            notes=notes,
        )


def pairs(name: str, ours: Callable[[], float], beside: Callable[[], float], *notes: str) -> Result:
    """Hold one figure against another."""
    return Pairs(ours, beside).result(name, float, float, *notes)


def within(name: str, ours: Callable[[], float], budget: float) -> Result:
    """Hold a figure against a fixed budget."""
    return pairs(name, ours, lambda: budget)
