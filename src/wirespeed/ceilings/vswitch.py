"""What an adapter of a virtual switch reports of itself."""

from wirespeed.model.ceiling import Band, Ceiling, Direction, Input, Quantity
from wirespeed.model.units import FCS_BYTES, line_rate_pps


def vswitch_ceiling(
    reported_bps: int,
    frame_bytes: int,
    direction: Direction,
    source: str,
    kind: Quantity = Quantity.NOMINAL,
) -> Ceiling:
    """Frames per second of an adapter of a virtual switch that reports `reported_bps`.

    No wire holds the adapter to that figure, so it is nominal: Hyper-V's internal switch reports
    10 Gb/s whatever the processor forwards. `high` counts the frame's bytes without FCS, `low`
    counts as an Ethernet of that speed would. `kind`: of a path that is only stated, what is said
    of the switch is taken to hold.
    """
    return Ceiling(
        element="virtual switch",
        direction=direction,
        frame_bytes=frame_bytes,
        load_pps=Band(
            low=float(line_rate_pps(reported_bps, frame_bytes)),
            high=reported_bps / (8 * (frame_bytes - FCS_BYTES)),
        ),
        formula="reported speed / (8 x frame), with 20 bytes of wire overhead or without FCS",
        inputs=(Input(name="reported speed", shown=f"{reported_bps / 1e9:g} Gb/s", source=source),),
        kind=kind,
    )
