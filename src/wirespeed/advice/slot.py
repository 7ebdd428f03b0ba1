"""Which slot a card needs, by what its lanes carry."""

from collections.abc import Sequence
from itertools import product

from wirespeed.advice.capacity import slot_gbps
from wirespeed.model.advice import Advice, Certainty, Choice, Ground

MODEL = (
    "wirespeed ceiling --pcie: Neugebauer et al., SIGCOMM 2018, at MTU 1500, payload of 256 and "
    "read requests of 512 bytes"
)
GENERATIONS, LANES = (3, 4, 5, 6), (4, 8, 16)
Slot = tuple[int, int]
"""Generation and lanes."""


def advise_slot(ports: int, port_gbps: float, slots: Sequence[Slot], *, both_ways: bool) -> Advice:
    """Answer for a card's ports, all in use at once, in each of `slots` or in any there is."""
    wanted = ports * port_gbps
    tried = list(slots) or list(product(GENERATIONS, LANES))
    bands = {slot: slot_gbps(*slot, both_ways=both_ways) for slot in tried}
    choices = tuple(
        Choice(
            name=_name(slot),
            gbps_low=min(bands[slot].low, wanted),
            gbps_high=min(bands[slot].high, wanted),
            cpu_percent="",
            certainty=Certainty.COMPUTED,
            note=_fills(bands[slot].low, bands[slot].high, wanted),
        )
        for slot in sorted(tried, key=lambda slot: (-min(bands[slot].low, wanted), _raw(slot)))
    )
    enough = [slot for slot in tried if bands[slot].low >= wanted]
    best = max(tried, key=lambda slot: bands[slot].low)
    if enough:
        answer = f"{_name(min(enough, key=_raw))} is enough for {wanted:g} Gb/s."
    else:
        band = bands[best]
        answer = (
            f"None of these is enough for {wanted:g} Gb/s: {_name(best)} carries "
            f"{band.low:.1f} to {band.high:.1f} Gb/s."
        )
    return Advice(
        question=f"a card of {ports} x {port_gbps:g} Gb/s, "
        f"{'both directions' if both_ways else 'one direction'} at once",
        answer=answer,
        choices=choices,
        grounds=_grounds(),
        unknown=(
            "What your slot runs at: wirespeed doctor reads lanes and generation of every hop; a "
            "slot of x16 may have x4 behind it, or share its lanes.",
        ),
    )


def _grounds() -> tuple[Ground, ...]:
    return (
        Ground(
            says="Gb/s are on the wire. The lower figure counts descriptors, completions and the "
            "data link layer; above the higher one nothing can be.",
            certainty=Certainty.COMPUTED,
            source=MODEL,
        ),
        Ground(
            says="A ConnectX-5 Ex of 100 Gb/s in a slot of PCIe 4.0 x4 had 53.6 Gb/s.",
            certainty=Certainty.PUBLISHED,
            source="a WSL2 host with a B850 board; iperf, bridged",
        ),
    )


def _fills(low: float, high: float, wanted: float) -> str:
    if low >= wanted:
        return "fills its ports"
    if high >= wanted:
        return "may fill its ports, at best"
    return f"{100 * high / wanted:.0f} % of its ports at most"


def _name(slot: Slot) -> str:
    return f"PCIe {slot[0]}.0 x{slot[1]}"


def _raw(slot: Slot) -> float:
    generation, lanes = slot
    return 2.0**generation * lanes
