"""What cores can carry: clock over cycles for each frame."""

from wirespeed.model.ceiling import Band, Ceiling, Direction, Input, Quantity

DPDK_CYCLES_PER_PACKET = (33.0, 43.7)
"""Of one core for a forwarded frame of 64 bytes: those that were busy, and all that passed.

ConnectX-5 at 3.4 GHz, testpmd: Mellanox NIC's Performance Report with DPDK 19.08, table 10. At 77.9
million frames a second 33 cycles of each frame were busy, and 3.4 GHz / 77.9 million = 43.6 passed:
a core waits for the card, too, and that bounds it as well. An application that does more than swap
addresses needs more. For the kernel's TCP there is no such figure: it is measured on the host, or
it is not known.
"""
DPDK_CYCLES_SOURCE = "assumed: Mellanox NIC's Performance Report with DPDK 19.08, table 10"


def cores_ceiling(
    cores: int,
    core_hz: float,
    cycles_per_packet: float,
    frame_bytes: int,
    direction: Direction,
    source: str,
    *,
    fewest_cycles_per_packet: float | None = None,
    assumed: bool = False,
) -> Ceiling:
    """Frames per second of `cores` that do nothing else, each at `core_hz`.

    `cycles_per_packet` is all that one frame costs a core: a frame that is forwarded counts once.
    `fewest_cycles_per_packet` is the least that such work was ever seen to take and gives the upper
    end of the band; None: the same. `assumed`: the cycles were not measured on this host.
    """
    fewest = cycles_per_packet if fewest_cycles_per_packet is None else fewest_cycles_per_packet
    shown = f"{cycles_per_packet:g}"
    if fewest != cycles_per_packet:
        shown = f"{fewest:g} to {shown}"
    return Ceiling(
        element="cores",
        direction=direction,
        frame_bytes=frame_bytes,
        load_pps=Band(low=cores * core_hz / cycles_per_packet, high=cores * core_hz / fewest),
        formula="cores x clock / cycles per packet",
        inputs=(
            Input(name="cores", shown=f"{cores}", source=source),
            Input(name="clock", shown=f"{core_hz / 1e9:g} GHz", source=source),
            Input(name="cycles per packet", shown=shown, source=source, assumed=assumed),
        ),
        kind=Quantity.MEASURED if assumed else Quantity.LIMIT,
    )


def measured_cores_ceiling(
    cores: int,
    core_bps: Band,
    frame_bytes: int,
    direction: Direction,
    source: str,
) -> Ceiling:
    """Frames per second of `cores`, where a figure per core was measured instead of its cycles.

    `core_bps` is in bits per second of frames with their FCS.
    """
    bits = 8 * frame_bytes
    return Ceiling(
        element="cores",
        direction=direction,
        frame_bytes=frame_bytes,
        load_pps=Band(low=cores * core_bps.low / bits, high=cores * core_bps.high / bits),
        formula="cores x measured load per core",
        inputs=(
            Input(name="cores", shown=f"{cores}", source=source),
            Input(
                name="load per core",
                shown=f"{core_bps.low / 1e9:g} to {core_bps.high / 1e9:g} Gb/s",
                source=source,
            ),
        ),
        kind=Quantity.MEASURED,
    )
