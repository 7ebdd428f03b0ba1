"""Figures that pages and a terminal write alike."""

from math import floor, log10


def significant(value: float, digits: int = 4) -> str:
    """`value` to so many significant digits, as a plain decimal: 14.2 is `14.20`."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = digits - 1 - floor(log10(abs(rounded)))
    return f"{rounded:,.{max(decimals, 0)}f}"


def ratio(value: float) -> str:
    """Write a loss ratio: `0` only when it is exactly zero."""
    if value == 0:
        return "0"
    return f"{significant(value * 100, 2)} %" if abs(value) >= 1e-6 else f"{value:.1e}"
