"""Two stand-alone switches or spine and leaf: ports, cables, what a failure leaves, the price."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.advice.cable import MEDIA, Medium
from wirespeed.model.advice import Advice, Certainty, Choice, Ground

BETWEEN_SWITCHES = 2
"""Links that join two switches, at the least: one alone would be a single point of failure."""
LEAST_SWITCHES = 2
LEAST_SPINES = 2
SHARES = ((1, 1), (3, 1))
"""Ports of a leaf towards hosts and towards spines: what is called 1:1 and 3:1."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be connected; every port has one speed."""

    hosts: int
    host_ports: int
    """Of each host, an even number: half of them go to either side."""
    switch_ports: int
    gbps: int
    metres: float
    """Between a host and its switch."""
    uplink_metres: float
    """Between switches."""
    rdma: bool = False
    dcb: bool = False
    switch_price: float | None = None
    dac_price: float | None = None
    """Of one copper cable with its ends."""
    optic_price: float | None = None
    """Of one module with half of its fibre."""

    @property
    def a_side(self) -> int:
        """Ports of hosts on either side."""
        return self.hosts * self.host_ports // 2


@dataclass(frozen=True, slots=True)
class Layout:
    """One way to connect them."""

    name: str
    switches: int
    uplinks: int
    """Cables between switches."""
    used_ports: int
    """Of the switch that has most of them in use."""
    across_share: float
    """Of a host's rate, what is left between hosts of different leaves when all send; 1: all."""
    note: str


def advise_network(asked: Asked) -> Advice:
    """Answer for hosts with an even number of ports. Raises nothing: what does not fit is said."""
    layouts = list(_layouts(asked))
    whole = asked.host_ports * asked.gbps
    fits = bool(layouts)
    first = layouts[0] if fits else None
    return Advice(
        question=f"{asked.hosts} hosts of {asked.host_ports} ports of {asked.gbps} Gb/s on "
        f"switches of {asked.switch_ports} such ports",
        answer="None of these layouts has enough ports: larger switches, or three tiers."
        if first is None
        else f"{first.name[0].upper()}{first.name[1:]}: {_reason(first)}.",
        choices=tuple(
            Choice(
                name=layout.name,
                gbps_low=whole / 2,
                gbps_high=whole,
                cpu_percent="",
                certainty=Certainty.COMPUTED,
                note=_note(asked, layout),
            )
            for layout in layouts
        ),
        todo=tuple(_todo(asked)),
        grounds=tuple(_grounds(asked, whole)),
        unknown=tuple(_unknown(asked)),
    )


def _reason(first: Layout) -> str:
    """Say why the layout that comes first does."""
    if first.switches == LEAST_SWITCHES:
        return "no fewer switches survive the loss of one"
    if first.across_share < 1:
        return "two switches have too few ports, and 1:1 has too few as well"
    return "two switches have too few ports; this carries all that hosts send between leaves"


def _layouts(asked: Asked) -> Iterator[Layout]:
    ports, side = asked.switch_ports, asked.a_side
    if side <= ports:
        yield Layout(
            "two stand-alone switches", LEAST_SWITCHES, 0, side, 1,
            "nothing joins them: no fault of one reaches the other, and each side is a network of "
            "its own, so that a host uses both by two addresses or SMB Multichannel, not by LACP",
        )  # fmt: skip
    if side + BETWEEN_SWITCHES <= ports:
        yield Layout(
            "two joined switches (MLAG)", LEAST_SWITCHES, BETWEEN_SWITCHES,
            side + BETWEEN_SWITCHES, 1,
            "LACP over both; one software and one fault of its control may stop both",
        )  # fmt: skip
    for down, up in SHARES:
        layout = _spine_and_leaf(asked, down, up)
        if layout is not None:
            yield layout


def _spine_and_leaf(asked: Asked, down: int, up: int) -> Layout | None:
    to_spines = asked.switch_ports * up // (down + up)
    to_hosts = asked.switch_ports - to_spines
    if not to_spines or not to_hosts:
        return None
    leaves = 2 * -(-asked.a_side // to_hosts)
    most_hosts = -(-asked.a_side * 2 // leaves)
    """Ports towards hosts that are in use at the leaf that has most of them."""
    uplinks = leaves * to_spines
    spines = next(
        (
            count
            for count in range(LEAST_SPINES, to_spines + 1)
            if to_spines % count == 0 and uplinks <= count * asked.switch_ports
        ),
        None,
    )
    if spines is None:
        return None
    return Layout(
        f"spine and leaf, {down}:{up}", leaves + spines, uplinks,
        max(most_hosts + to_spines, uplinks // spines),
        min(1.0, to_spines / most_hosts),
        f"{leaves} leaves in pairs, {spines} spines; a spine that fails takes 1/{spines} of what "
        "goes between leaves",
    )  # fmt: skip


def _note(asked: Asked, layout: Layout) -> str:
    cables = asked.hosts * asked.host_ports
    words = [
        f"{layout.switches} switches, {cables} cables to hosts",
        f"{layout.uplinks} between switches" if layout.uplinks else "",
        f"{layout.used_ports} of {asked.switch_ports} ports in use where most are",
        "a switch of a host's that fails leaves it half",
        f"between leaves {100 * layout.across_share:.0f} % when all send"
        if layout.across_share < 1
        else "",
        layout.note,
        _price(asked, layout),
    ]
    return "; ".join(filter(None, words))


def _price(asked: Asked, layout: Layout) -> str:
    """Give the sum of the user's own prices; empty where one that it takes is not given."""
    host_cables = asked.hosts * asked.host_ports
    total = 0.0
    for count, metres in ((host_cables, asked.metres), (layout.uplinks, asked.uplink_metres)):
        medium = _medium(asked.gbps, metres)
        if not count:
            continue
        if medium is None:
            return ""
        one = asked.dac_price if _is_copper(medium) else asked.optic_price
        if one is None:
            return ""
        total += count * one * (1 if _is_copper(medium) else 2)
    if asked.switch_price is None:
        return ""
    return f"price {total + layout.switches * asked.switch_price:,.0f}, by the prices you gave"


def _medium(gbps: int, metres: float) -> Medium | None:
    reach = [medium for medium in MEDIA if medium.gbps == gbps and medium.metres >= metres]
    return min(reach, key=lambda medium: medium.metres, default=None)


def _is_copper(medium: Medium) -> bool:
    """Twinax and twisted pairs come with their ends: no module is bought for them."""
    return "copper" in medium.cable


def _todo(asked: Asked) -> Iterator[str]:
    yield "each host: one half of its ports to either side, so that no switch has all of one"
    for what, metres in (("hosts", asked.metres), ("switches", asked.uplink_metres)):
        medium = _medium(asked.gbps, metres)
        if medium is not None:
            ends = "" if _is_copper(medium) else ", a module at each end"
            yield f"to {what}, {metres:g} m: {medium.name}, {medium.cable}{ends}"
    if not asked.rdma:
        return
    if asked.dcb:
        yield (
            "RoCE: one priority with PFC, the same at every card and every switch of the way; all "
            "trust the DSCP; ECN marks before PFC pauses, in that priority alone"
        )
        yield "$ mlnx_qos -i NETDEV --trust dscp --pfc 0,0,0,1,0,0,0,0"
    else:
        yield (
            "RoCE without DCB at the switches: ECN at cards and switches alone, and packets that "
            "are dropped are sent again; or iWARP, which needs neither"
        )


def _grounds(asked: Asked, whole: int) -> Iterator[Ground]:
    yield Ground(
        says=f"Each host has {whole} Gb/s, and {whole / 2:g} while one of its switches is down, is "
        "updated or is replaced.",
        certainty=Certainty.COMPUTED,
        source="half of its ports go to either side",
    )
    for metres in dict.fromkeys((asked.metres, asked.uplink_metres)):
        medium = _medium(asked.gbps, metres)
        if medium is not None:
            yield Ground(
                says=f"{medium.name} over {medium.cable}: {medium.metres:g} m",
                certainty=Certainty.STANDARD,
                source=f"IEEE Std 802.3, clause {medium.clause}",
            )
    if asked.rdma:
        yield Ground(
            says="PFC pauses one priority of a link, and so hop by hop back to the sender: one hop "
            "without it drops what the others held back.",
            certainty=Certainty.STANDARD,
            source="IEEE Std 802.1Qbb",
        )


def _unknown(asked: Asked) -> Iterator[str]:
    for metres in dict.fromkeys((asked.metres, asked.uplink_metres)):
        if _medium(asked.gbps, metres) is None:
            yield (
                f"No medium of {asked.gbps} Gb/s in wirespeed's table of IEEE Std 802.3 goes "
                f"{metres:g} m: as a vendor says."
            )
    if None in (asked.switch_price, asked.dac_price, asked.optic_price):
        yield "Prices that you did not give: --switch-price, --dac-price, --optic-price."
    yield "Buffers of the switches, and whether they take these modules: their vendor's lists."
