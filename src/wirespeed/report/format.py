"""Figures as a reader sees them. Each function takes SI units and says what it writes."""

from wirespeed.model.figures import count, gbps, milliseconds, mpps, pct, ratio, significant
from wirespeed.report.page import Missing

__all__ = [
    "count", "frame", "gbps", "ghz", "microseconds", "milliseconds", "mpps", "pct", "plain",
    "ratio", "seconds", "significant",
]  # fmt: skip


def ghz(hz: float) -> str:
    """10^9 cycles per second."""
    return f"{hz / 1e9:.2f}"


def microseconds(ns: float) -> str:
    """Three significant digits, which is what a latency bucket holds; whole above 1000."""
    value = ns / 1000
    return f"{value:,.0f}" if value >= 1000 else significant(value, 3)


def seconds(value: float) -> str:
    """Write a duration in the two largest units that it has."""
    if value < 60:
        return f"{value:.3g} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def frame(label: str) -> str:
    """Name a frame size with its unit; a mix is named as one."""
    return f"{label} B" if label.isdigit() else f"mix {label}"


def plain(value: float | Missing, digits: int) -> str:
    """For a data file: a decimal with so many places, or nothing."""
    return "" if isinstance(value, Missing) else f"{value:.{digits}f}"
