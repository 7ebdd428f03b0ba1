"""Names of link modes, as ethtool prints them, to bits per second."""

import re
from collections.abc import Iterable

MODE = re.compile(r"(\d{2,7})base[A-Z][A-Za-z0-9_]*(?:/(?:Half|Full))?")
"""`25000baseCR/Full`, `2500baseT/Full`, `100000baseLR4_ER4/Full`, `10000baseR_FEC`."""


def mode_bps(mode: str) -> int | None:
    """Speed of a mode: its number is in Mb/s. None for a name that is no mode."""
    match = MODE.fullmatch(mode)
    return int(match[1]) * 10**6 if match else None


def modes_bps(modes: Iterable[str]) -> tuple[int, ...]:
    """Every speed that a list of modes holds, lowest first; unknown names have none."""
    return tuple(sorted({bps for mode in modes if (bps := mode_bps(mode)) is not None}))
