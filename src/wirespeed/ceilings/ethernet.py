"""What an Ethernet link can carry: framing only."""

from wirespeed.model.ceiling import Band, Ceiling, Direction, Input, Ledger
from wirespeed.model.units import line_rate_pps


def ethernet_ceiling(
    link_bps: int, frame_bytes: int, direction: Direction, source: str, *, assumed: bool = False
) -> Ceiling:
    """Line rate of a link, IEEE 802.3: each frame has 20 bytes of preamble, SFD and gap."""
    pps = float(line_rate_pps(link_bps, frame_bytes))
    return Ceiling(
        element="ethernet",
        direction=direction,
        frame_bytes=frame_bytes,
        load_pps=Band(low=pps, high=pps),
        formula="link speed / (8 x (frame + 20 bytes))",
        inputs=(
            Input(
                name="link speed", shown=f"{link_bps / 1e9:g} Gb/s", source=source, assumed=assumed
            ),
        ),
    )


def is_without_link(ledger: Ledger) -> bool:
    """Whether the speed of the link is only what the port could do: no link gave it."""
    return any(
        c.element == "ethernet" and any(item.assumed for item in c.inputs) for c in ledger.ceilings
    )
