"""What IEEE 802.3 asks of each medium: forward error correction and negotiation. Pure.

The names are those of `ethtool -m` (SFF-8472, SFF-8636): `25G Base-LR`, `100G Base-SR4`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

NAMED = re.compile(r"\b(\d{1,3})G ?B(?:ase|ASE)-?([A-Z]{1,4}\d{0,2})\b")
GBIT = 10**9


@dataclass(frozen=True, slots=True)
class Medium:
    """One physical layer of the standard."""

    name: str
    """`25GBASE-LR`."""
    fec: str
    """`RS` where the clause demands RS-FEC; `none` where it has no FEC."""
    clause: int

    @property
    def bps(self) -> int:
        """Its speed."""
        return int(self.name.partition("G")[0]) * GBIT


MEDIA = {
    medium.name: medium
    for medium in (
        Medium("10GBASE-SR", "none", 52), Medium("10GBASE-LR", "none", 52),
        Medium("10GBASE-ER", "none", 52), Medium("10GBASE-T", "none", 55),
        Medium("25GBASE-SR", "RS", 112), Medium("25GBASE-LR", "RS", 114),
        Medium("25GBASE-ER", "RS", 114),
        Medium("40GBASE-SR4", "none", 86), Medium("40GBASE-LR4", "none", 87),
        Medium("40GBASE-ER4", "none", 87),
        Medium("50GBASE-SR", "RS", 138), Medium("50GBASE-FR", "RS", 139),
        Medium("50GBASE-LR", "RS", 139),
        Medium("100GBASE-SR4", "RS", 95), Medium("100GBASE-LR4", "none", 88),
        Medium("100GBASE-ER4", "none", 88), Medium("100GBASE-SR10", "none", 86),
        Medium("100GBASE-DR", "RS", 140),
        Medium("200GBASE-SR4", "RS", 138), Medium("200GBASE-FR4", "RS", 122),
        Medium("200GBASE-LR4", "RS", 122), Medium("400GBASE-DR4", "RS", 124),
        Medium("400GBASE-SR8", "RS", 138), Medium("400GBASE-FR8", "RS", 122),
        Medium("400GBASE-LR8", "RS", 122),
    )
}  # fmt: skip
"""IEEE 802.3-2022. RS-FEC is clause 108 at 25 Gb/s, 91 at 100 Gb/s by four lanes, 134 at 50 Gb/s,
and a part of the PCS at 200 and 400 Gb/s (119). Of copper cables the class decides, not the name:
clauses 92 and 110."""


def medium_of(compliance: Iterable[str]) -> Medium | None:
    """Give the fastest medium that a module says it is made for; None where none is known here."""
    found = [
        MEDIA[name]
        for gbps, kind in NAMED.findall(" ".join(compliance))
        if (name := f"{gbps}GBASE-{kind}") in MEDIA
    ]
    return max(found, key=lambda medium: medium.bps, default=None)
