"""The most frames a second that a card itself takes, by what its maker published."""

from dataclasses import dataclass

from wirespeed.model.ceiling import Band, Ceiling, Direction, Input

ELEMENT = "card's packet rate"
INTEL, MELLANOX = 0x8086, 0x15B3


@dataclass(frozen=True, slots=True)
class PacketRate:
    """Of a whole card, all of its ports together."""

    name: str
    pps: float
    below_bytes: int | None
    """It bounds frames shorter than this, with FCS; None: of any length."""
    source: str


INTEL_700 = PacketRate(
    name="Intel 700 series",
    pps=37e6,
    below_bytes=160,
    source="https://www.intel.com/content/www/us/en/docs/programmable/683749/1-1/"
    "intel-ethernet-controller-xl710.html (about 37 Mpps for the entire device)",
)
CONNECTX_6 = PacketRate(
    name="ConnectX-6",
    pps=215e6,
    below_bytes=None,
    source="ConnectX-6 EN Card, product brief: 215 million messages per second",
)
INTEL_700_DEVICES = (
    0x104E, 0x104F, 0x1572, 0x1580, 0x1581, 0x1583, 0x1584, 0x1585, 0x1586, 0x1587, 0x1588, 0x1589,
    0x158A, 0x158B, 0x15FF,
)  # fmt: skip
"""X710, XL710 and XXV710: Linux' drivers/net/ethernet/intel/i40e/i40e_devids.h. Not X722, which is
a part of the chipset."""
RATES = {
    **{(INTEL, device): INTEL_700 for device in INTEL_700_DEVICES},
    (MELLANOX, 0x101B): CONNECTX_6,
}
"""By PCI vendor and device. Of other cards no figure is known that their maker stands for."""


def packet_rate_ceiling(
    vendor: int, device: int, frame_bytes: int, direction: Direction, source: str
) -> Ceiling | None:
    """Give what the card takes of such frames; None: nothing was published that bounds them.

    One port that carries alone may have all of it. `source`: the command that names the card.
    """
    published = RATES.get((vendor, device))
    if published is None or (
        published.below_bytes is not None and frame_bytes >= published.below_bytes
    ):
        return None
    return Ceiling(
        element=ELEMENT,
        direction=direction,
        frame_bytes=frame_bytes,
        load_pps=Band(low=published.pps, high=published.pps),
        formula="frames a second of the whole card, as published",
        inputs=(
            Input(name="card", shown=published.name, source=source),
            Input(
                name="packet rate",
                shown=f"{published.pps / 1e6:g} Mpps",
                source=published.source,
                assumed=True,
            ),
        ),
    )
