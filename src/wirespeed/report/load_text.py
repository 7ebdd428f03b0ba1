"""Loads as the doctor writes them: Gb/s on the wire, or Mpps where frames are short. Pure."""

import math
from dataclasses import dataclass

from wirespeed.model.ceiling import Band
from wirespeed.model.units import load_bps_l1

SHORT_FRAME_BYTES = 256
"""Below it, what bounds a path is most often the number of frames and not of bytes."""


@dataclass(frozen=True, slots=True)
class LoadUnit:
    """What loads of frames of one size are written in."""

    frame_bytes: int

    @property
    def name(self) -> str:
        """`Mpps`, or `Gb/s`: of wire time, gap and preamble counted."""
        return "Mpps" if self.frame_bytes < SHORT_FRAME_BYTES else "Gb/s"

    def value(self, load_pps: float) -> float:
        """Give the load as a number of that unit."""
        if self.name == "Mpps":
            return load_pps / 1e6
        return load_bps_l1(load_pps, self.frame_bytes) / 1e9

    def text(self, load_pps: float) -> str:
        """One decimal from 10 up, three digits below: `98.1`, `4.53`, `0.0312`."""
        return decimal(self.value(load_pps))

    def band(self, band: Band) -> str:
        """`53.0 to 58.0`, or one figure where both ends read alike."""
        low, high = self.text(band.low), self.text(band.high)
        return low if low == high else f"{low} to {high}"


def decimal(value: float) -> str:
    """Write a plain decimal: three digits below 10, one place above, none from 10 000."""
    if not math.isfinite(value):
        return "no bound"
    if abs(value) >= 9999.5:
        return f"{value:,.0f}"
    if value == 0 or abs(value) >= 9.995:
        return f"{value:.1f}" if value else "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}" if places < 9 else f"{value:.1e}"
