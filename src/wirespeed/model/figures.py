"""Figures that pages and a terminal write alike."""

from math import ceil, floor, log10


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


def count(value: int) -> str:
    """Write a number of frames, thousands apart."""
    return f"{value:,}"


def mpps(pps: float) -> str:
    """Million frames per second: three decimals, more where they would leave two digits."""
    value = pps / 1e6
    return significant(value, 3) if 0 < abs(value) < 0.1 else f"{value:,.3f}"


def gbps(bps: float) -> str:
    """10^9 bit per second: three decimals, as published; more where they leave two digits."""
    value = bps / 1e9
    return significant(value, 3) if 0 < abs(value) < 0.1 else f"{value:,.3f}"


def pct(percent: float) -> str:
    """Percent: two decimals, more where they would leave one digit."""
    return significant(percent, 2) if 0 < abs(percent) < 0.1 else f"{percent:.2f}"


def milliseconds(ms: float, load_pps: int) -> str:
    """Write an outage to its resolution: one interval of a flow of `load_pps`."""
    decimals = max(0, ceil(log10(load_pps / 1000)))
    return f"{ms:,.{decimals}f}"
