"""How many cores of the tester a line rate takes, from cycles that were measured. Pure."""

import math

from wirespeed.model.frozen import Frozen
from wirespeed.model.units import wire_bytes


class Line(Frozen):
    """Links that are filled at once, each one way."""

    name: str
    gbps: int
    """10⁹ bit/s of all of them together."""


LINES = (
    Line(name="100 Gb/s", gbps=100),
    Line(name="2 x 100 Gb/s", gbps=200),
    Line(name="400 Gb/s", gbps=400),
)


class CoresNeeded(Frozen):
    """A line, the frames a second that fill it, and the cores that send and judge as many."""

    line: str
    frame_bytes: int
    pps: float
    cycles_per_frame: float
    """Sent and judged, TSC cycles."""
    cores: int


def cores_needed(
    line: Line, *, frame_bytes: int, cycles_per_frame: float, tsc_hz: float
) -> CoresNeeded:
    """Give the cores for a line rate: each does `tsc_hz / cycles_per_frame` frames a second."""
    pps = line.gbps * 1e9 / (8 * wire_bytes(frame_bytes))
    return CoresNeeded(
        line=line.name,
        frame_bytes=frame_bytes,
        pps=pps,
        cycles_per_frame=cycles_per_frame,
        cores=math.ceil(pps * cycles_per_frame / tsc_hz),
    )
