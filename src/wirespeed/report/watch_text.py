"""A line a port in 80 columns: rates, shares of the ceiling, limit, last change. Pure."""

from wirespeed.doctor.port_watch import Flow, Watched
from wirespeed.model.shown import shown
from wirespeed.report.load_text import decimal
from wirespeed.report.text_lines import clip, pad

NAME, FIGURE, SHARE, LIMIT, CHANGE = 12, 6, 4, 20, 21
LEAST_GBPS = 0.001
TIME = 9
"""Columns that lines which scroll give to the time; the last two columns get narrower by it."""


def watch_head(time: str = "") -> str:
    """Give the line above the ports."""
    return _row(
        time and "time", "port", ("rx", "Gb/s"), ("tx", "Gb/s"), "limited by", "changed last"
    )


def watch_line(port: str, seen: Watched | None, change: str, time: str = "") -> str:
    """Give the line of one port; `change`: what changed last, and when; `time`: of the reading."""
    if seen is None:
        return _row(time, port, ("", ""), ("", ""), "first reading", change)
    return _row(time, port, _flow(seen.receive), _flow(seen.transmit), seen.limited_by, change)


def ago(change: str, seconds: float) -> str:
    """Say what changed, and how long ago."""
    if seconds < 120:
        return f"{seconds:.0f} s: {change}"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min: {change}"
    return f"{seconds / 3600:.0f} h: {change}"


def _flow(flow: Flow) -> tuple[str, str]:
    share = "?" if flow.share is None else f"{100 * flow.share:.0f}%"
    gbps = flow.bps_l1 / 1e9
    return "<0.001" if 0 < gbps < LEAST_GBPS else decimal(gbps), share


def _row(
    time: str, port: str, receive: tuple[str, str], transmit: tuple[str, str],
    limit: str, change: str,
) -> str:  # fmt: skip
    limit_columns, change_columns = (LIMIT - 2, CHANGE - 7) if time else (LIMIT, CHANGE)
    figures = " ".join(
        f"{figure:>{FIGURE}} {share:>{SHARE}}" for figure, share in (receive, transmit)
    )
    left = f"{time:<{TIME}}" if time else ""
    line = f"{left}{_cell(port, NAME)} {figures}  {_cell(limit, limit_columns)} "
    return line + clip(shown(change), change_columns)


def _cell(text: str, columns: int) -> str:
    return pad(clip(shown(text), columns), columns)
