"""Whether cards of one speed go into a fabric of another now, and what must be forced."""

from collections.abc import Iterator

from wirespeed.advice.capacity import goodput_gbps
from wirespeed.model.advice import Advice, Certainty, Choice, Ground

SOURCE = (
    "“Force Mellanox ConnectX-4 Lx 25Gbps to 10Gbps speed”: ConnectX-4 Lx at 25 Gb/s, Dell EMC "
    "N4000 switches of 10 Gb/s"
)
WITH_CARD, WITH_SWITCH = 25, 10
"""The pair that somebody tried."""
SFP_SPEEDS = (1, 10, 25)
"""Of cages for SFP, SFP+ and SFP28, which are of one shape."""
QSFP_SPEEDS = (40, 100, 200)
"""Of cages for QSFP+, QSFP28 and QSFP56, which are of one shape."""


def advise_fabric(card_gbps: int, switch_gbps: int) -> Advice:
    """Answer for a card and a switch, each by the speed of its ports."""
    common = min(card_gbps, switch_gbps)
    question = f"ports of {card_gbps} Gb/s on a switch of {switch_gbps} Gb/s"
    if card_gbps == switch_gbps:
        return Advice(
            question=question,
            answer="Yes: both ends have the same speed. Leave both to negotiate, or force both.",
            choices=(_link("both ends alike", common, Certainty.COMPUTED),),
            grounds=(_ceiling(common),),
            unknown=_fec(common),
        )
    is_tried = (card_gbps, switch_gbps) == (WITH_CARD, WITH_SWITCH)
    both = {card_gbps, switch_gbps}
    if not (both <= set(SFP_SPEEDS) or both <= set(QSFP_SPEEDS)):
        return _other_cage(question, card_gbps, switch_gbps)
    sure = Certainty.PUBLISHED if is_tried else Certainty.UNKNOWN
    tried = (
        _link(f"both ends fixed at {common} Gb/s", common, sure),
        _link("both ends negotiate", 1, sure),
        _link("card fixed, switch negotiates", 0, sure),
        _link("switch fixed, card negotiates", 0, sure),
    )
    return Advice(
        question=question,
        answer=f"Yes, at {common} Gb/s, with both ends fixed at {common} Gb/s."
        if is_tried
        else f"Likely, at {common} Gb/s with both ends fixed; this pair was not tried here.",
        choices=tried if is_tried else tried[:1],
        todo=_todo(common),
        grounds=(
            Ground(
                says="The link was down with one end fixed at 10 Gb/s and the other negotiating, "
                "and at 1 Gb/s with both negotiating. With both fixed it was at 10 Gb/s. "
                "Firmware, cables and modules were in order, and 10 Gb/s cards had worked there.",
                certainty=Certainty.PUBLISHED,
                source=SOURCE,
            ),
            *_one_cage(common),
            _ceiling(common),
        ),
        unknown=(
            "Other cards and switches: some come up by themselves. See what the card can do: "
            "ethtool NETDEV (Supported link modes), or mlx5cmd.exe -LinkSpeed -Name NAME -Query.",
            *_fec(common),
        ),
    )


def _todo(gbps: int) -> tuple[str, ...]:
    return (
        f"the switch's port: fixed at {gbps} Gb/s, no negotiation",
        f"or both as one change: $ wirespeed link HOST NETDEV SWITCH/PORT --speed {gbps}G",
        f'> mlx5cmd.exe -LinkSpeed -Name "ADAPTER" -Set {gbps}',
        f"$ ethtool -s NETDEV speed {gbps * 1000} autoneg off",
        'back, with the switch: > mlx5cmd.exe -LinkSpeed -Name "ADAPTER" -Set 0',
    )  # fmt: skip


def _other_cage(question: str, card_gbps: int, switch_gbps: int) -> Advice:
    common = min(card_gbps, switch_gbps)
    return Advice(
        question=question,
        answer="Not known: these ports may have cages of different shapes, or be lanes of one "
        "port.",
        choices=(_link(f"at {common} Gb/s, if at all", common, Certainty.UNKNOWN),),
        grounds=(_ceiling(common),),
        unknown=(
            "Whether an adapter or a break-out cable is in the vendors' lists of both, and whether "
            f"the card has {common} Gb/s: ethtool NETDEV (Supported link modes), mlx5cmd.exe "
            "-LinkSpeed -Name NAME -Query.",
        ),
    )


def _one_cage(common: int) -> Iterator[Ground]:
    if common in QSFP_SPEEDS:
        yield Ground(
            says="Cages for QSFP+, QSFP28 and QSFP56 have one shape; both ends need cables and "
            f"modules of {common} Gb/s.",
            certainty=Certainty.VENDOR,
            source="MSB7890 manual, section 4.1.1: QSFP28 ports for 40, 56 and 100 Gb/s; "
            "ConnectX-6 EN product brief: 200, 100, 50, 40, 25, 10 and 1 GbE",
        )


def _link(name: str, gbps: float | None, certainty: Certainty) -> Choice:
    note = "no link" if gbps == 0 else ""
    return Choice(
        name=name, gbps_low=gbps, gbps_high=gbps, cpu_percent="", certainty=certainty, note=note
    )


def _ceiling(gbps: int) -> Ground:
    return Ground(
        says=f"A link of {gbps} Gb/s carries at most {goodput_gbps(gbps):.2f} Gb/s of TCP payload "
        "at MTU 1500.",
        certainty=Certainty.COMPUTED,
        source=f"wirespeed ceiling --link {gbps}",
    )


def _fec(gbps: int) -> tuple[str, ...]:
    if gbps < WITH_CARD:
        return ()
    return ("FEC must be the same at both ends from 25 Gb/s on: wirespeed doctor reads it.",)
