"""The most that an element of a path can carry, and the ledger of a whole path."""

from collections.abc import Iterator
from enum import StrEnum

from wirespeed.model.frozen import Frozen
from wirespeed.model.units import load_bps_l1


class Direction(StrEnum):
    """As the host sees it."""

    RECEIVE = "receive"
    TRANSMIT = "transmit"


class Quantity(StrEnum):
    """What a ceiling's figure is worth."""

    LIMIT = "limit"
    """Arithmetic of wires, buses and clocks: no measurement exceeds it."""
    MEASURED = "measured elsewhere"
    """A published measurement: another machine may carry more."""
    ASSUMED = "assumed"
    """What somebody stated for a path that may not exist."""
    NOMINAL = "reported"
    """What a driver reports of an adapter that nothing holds to it."""


class Band(Frozen):
    """A ceiling in frames per second: the whole model, and headers only.

    After Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM 2018:
    nothing measured can lie above `high`; what is well set up comes near `low`.
    """

    low: float
    high: float


class Input(Frozen):
    """A number that a ceiling was computed from."""

    name: str
    shown: str
    """With its unit."""
    source: str
    """The command that reads it again, or where an assumption comes from."""
    assumed: bool = False


class Ceiling(Frozen):
    """What one element can carry in one direction."""

    element: str
    """`ethernet`, `pcie 0000:3b:00.0`, `virtual switch`, `cores`, `tcp window`, …"""
    direction: Direction
    frame_bytes: int
    """With FCS."""
    load_pps: Band
    formula: str
    inputs: tuple[Input, ...]
    kind: Quantity = Quantity.LIMIT

    @property
    def load_bps_l1(self) -> Band:
        """The same in bits per second of wire time."""
        return Band(
            low=load_bps_l1(self.load_pps.low, self.frame_bytes),
            high=load_bps_l1(self.load_pps.high, self.frame_bytes),
        )


class Ledger(Frozen):
    """Every ceiling of the path through one port, in both directions."""

    port: str
    frame_bytes: int
    ceilings: tuple[Ceiling, ...]
    unknown: tuple[str, ...] = ()
    """Elements whose ceiling could not be computed, each with its reason."""
    bidirectional: bool = False
    """Every ceiling holds while the other direction carries as much."""

    def bound(self, direction: Direction) -> Ceiling | None:
        """Give the ceiling that bounds the path in one direction: the lowest. None: none known.

        What is only reported bounds nothing.
        """
        return min(self._bounding(direction), key=lambda c: c.load_pps.low, default=None)

    def most(self, direction: Direction) -> Ceiling | None:
        """Give the ceiling that nothing can lie above: the lowest high end. None: none known."""
        return min(self._bounding(direction), key=lambda c: c.load_pps.high, default=None)

    def reported(self, direction: Direction) -> Ceiling | None:
        """Give the lowest figure that is only reported. None: there is none."""
        found = [c for c in self._of(direction) if c.kind is Quantity.NOMINAL]
        return min(found, key=lambda c: c.load_pps.low, default=None)

    def _of(self, direction: Direction) -> Iterator[Ceiling]:
        return (c for c in self.ceilings if c.direction is direction)

    def _bounding(self, direction: Direction) -> Iterator[Ceiling]:
        return (c for c in self._of(direction) if c.kind is not Quantity.NOMINAL)

    def may_bound(self, direction: Direction) -> tuple[Ceiling, ...]:
        """Every ceiling that could be the lowest, as bands overlap; by their low ends."""
        most = self.most(direction)
        if most is None:
            return ()
        return tuple(
            sorted(
                (
                    c
                    for c in self._bounding(direction)
                    if c is most or c.load_pps.low < most.load_pps.high
                ),
                key=lambda c: c.load_pps.low,
            )
        )

    def may_be_bound_by(self, element: str) -> bool:
        """Whether an element may bound the path in some direction; True if not known."""
        if all(c.element != element for c in self.ceilings):
            return True
        return any(c.element == element for d in Direction for c in self.may_bound(d))

    def is_bound_by(self, element: str) -> bool:
        """Whether an element bounds the path in some direction even at the best of its band."""
        most = [self.most(direction) for direction in Direction]
        return any(c is not None and c.element == element for c in most)
