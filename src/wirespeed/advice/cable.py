"""Which cable for a length, as IEEE Std 802.3 has it."""

from dataclasses import dataclass

from wirespeed.model.advice import Advice, Certainty, Choice, Ground

STANDARD = "IEEE Std 802.3"


@dataclass(frozen=True, slots=True)
class Medium:
    """A physical layer, and how far it goes."""

    gbps: int
    name: str
    cable: str
    metres: float
    clause: int
    note: str = ""


MEDIA = (
    Medium(10, "10GBASE-T", "copper pairs, class EA (Cat 6A)", 100, 55),
    Medium(10, "10GBASE-SR", "multimode fibre OM3", 300, 52),
    Medium(10, "10GBASE-LR", "single-mode fibre", 10_000, 52),
    Medium(25, "25GBASE-CR-S", "copper twinax (DAC)", 3, 110, "without RS-FEC"),
    Medium(25, "25GBASE-CR", "copper twinax (DAC)", 5, 110, "with RS-FEC"),
    Medium(25, "25GBASE-SR", "multimode fibre OM3", 70, 112, "with RS-FEC"),
    Medium(25, "25GBASE-SR", "multimode fibre OM4", 100, 112, "with RS-FEC"),
    Medium(25, "25GBASE-LR", "single-mode fibre", 10_000, 114, "with RS-FEC"),
    Medium(40, "40GBASE-CR4", "copper twinax (DAC)", 7, 85),
    Medium(40, "40GBASE-SR4", "multimode fibre OM3, 8 fibres", 100, 86),
    Medium(40, "40GBASE-SR4", "multimode fibre OM4, 8 fibres", 150, 86),
    Medium(40, "40GBASE-LR4", "single-mode fibre", 10_000, 87),
    Medium(50, "50GBASE-CR", "copper twinax (DAC)", 3, 136, "with RS-FEC"),
    Medium(50, "50GBASE-SR", "multimode fibre OM3", 70, 138, "with RS-FEC"),
    Medium(50, "50GBASE-SR", "multimode fibre OM4", 100, 138, "with RS-FEC"),
    Medium(50, "50GBASE-FR", "single-mode fibre", 2_000, 139, "with RS-FEC"),
    Medium(50, "50GBASE-LR", "single-mode fibre", 10_000, 139, "with RS-FEC"),
    Medium(100, "100GBASE-CR4", "copper twinax (DAC)", 5, 92, "with RS-FEC"),
    Medium(100, "100GBASE-SR4", "multimode fibre OM3, 8 fibres", 70, 95, "with RS-FEC"),
    Medium(100, "100GBASE-SR4", "multimode fibre OM4, 8 fibres", 100, 95, "with RS-FEC"),
    Medium(100, "100GBASE-LR4", "single-mode fibre", 10_000, 88, "without FEC"),
    Medium(200, "200GBASE-CR4", "copper twinax (DAC)", 3, 136, "with RS-FEC"),
    Medium(200, "200GBASE-SR4", "multimode fibre OM3, 8 fibres", 70, 138, "with RS-FEC"),
    Medium(200, "200GBASE-SR4", "multimode fibre OM4, 8 fibres", 100, 138, "with RS-FEC"),
    Medium(200, "200GBASE-DR4", "single-mode fibre, 8 fibres", 500, 121, "with RS-FEC"),
    Medium(200, "200GBASE-FR4", "single-mode fibre", 2_000, 122, "with RS-FEC"),
    Medium(200, "200GBASE-LR4", "single-mode fibre", 10_000, 122, "with RS-FEC"),
    Medium(400, "400GBASE-CR4", "copper twinax (DAC)", 2, 162, "with RS-FEC"),
    Medium(400, "400GBASE-SR8", "multimode fibre OM3, 16 fibres", 70, 138, "with RS-FEC"),
    Medium(400, "400GBASE-SR8", "multimode fibre OM4, 16 fibres", 100, 138, "with RS-FEC"),
    Medium(400, "400GBASE-DR4", "single-mode fibre, 8 fibres", 500, 124, "with RS-FEC"),
    Medium(400, "400GBASE-FR4", "single-mode fibre", 2_000, 151, "with RS-FEC"),
    Medium(400, "400GBASE-LR8", "single-mode fibre", 10_000, 122, "with RS-FEC"),
)
"""By speed, the shortest first. Copper of clauses 136 and 162: 3 m and 2 m by the objectives of
802.3cd and 802.3ck. 50 Gb/s is of one lane; two lanes of 25 (25G Ethernet Consortium) are not
here."""
SPEEDS = tuple(dict.fromkeys(medium.gbps for medium in MEDIA))


def advise_cable(gbps: int, metres: float) -> Advice:
    """Answer for a link of one of SPEEDS over so many metres."""
    reach = [medium for medium in MEDIA if medium.gbps == gbps and medium.metres >= metres]
    nearest = min(reach, key=lambda medium: medium.metres, default=None)
    answer = f"None in this list: no {gbps} Gb/s cable or module in it reaches {metres:g} m."
    if nearest is not None:
        answer = f"{nearest.cable}, {nearest.name}: up to {nearest.metres:g} m."
    return Advice(
        question=f"{gbps} Gb/s over {metres:g} m",
        answer=answer,
        choices=tuple(
            Choice(
                name=f"{medium.name}, {medium.cable}",
                gbps_low=gbps,
                gbps_high=gbps,
                cpu_percent="",
                certainty=Certainty.STANDARD,
                note="; ".join(filter(None, (f"up to {medium.metres:g} m", medium.note))),
            )
            for medium in reach
        ),
        grounds=tuple(
            Ground(
                says=f"{medium.name} over {medium.cable}: {medium.metres:g} m",
                certainty=Certainty.STANDARD,
                source=f"{STANDARD}, clause {medium.clause}",
            )
            for medium in reach
        ),
        unknown=(
            "Active optical cables (AOC) and DACs of SFP+ have no length in the standard: as their "
            "vendor says.",
            "Whether card and switch take the module or cable: their vendors' lists; wirespeed "
            "doctor says link.module_unqualified where the card refuses one.",
        ),
    )
