"""What an Ethernet or InfiniBand link can carry: framing only."""

from wirespeed.model.ceiling import Band, Ceiling, Direction, Input, Ledger
from wirespeed.model.units import line_rate_pps

ETHERNET, INFINIBAND = "ethernet", "infiniband"
WIRES = (ETHERNET, INFINIBAND)
"""Elements that are the link itself."""
FRAME_OF_PAYLOAD_BYTES = 18
"""Of an Ethernet frame, what is not its payload: header and FCS."""
INFINIBAND_BYTES = 8 + 12 + 8 + 4 + 4 + 2
"""What one IP packet has around it on InfiniBand: LRH, BTH, DETH (InfiniBand Architecture
Specification 1.3, sections 7.7, 9.2, 9.3), 4 of IPoIB (RFC 4391 section 6), ICRC and VCRC."""
INFINIBAND_DATA_BPS = {
    10 * 10**9: 8 * 10**9,
    20 * 10**9: 16 * 10**9,
    40 * 10**9: 32 * 10**9,
    56 * 10**9: 54_545_454_545,
}
"""By what a link of 4 lanes is called (SDR, DDR, QDR, FDR): their names count the 8b/10b symbols,
or a rounded 64b/66b. From EDR on the name is the data rate."""
FDR10_BPS = 40 * 10**9
"""4 lanes of FDR10 are called as QDR's, but have 64b/66b: all of it is data. The kernel gives both
as 10 Gb/s a lane (ib_speed_enum_to_int in drivers/infiniband/ulp/ipoib/ipoib_ethtool.c)."""


def ethernet_ceiling(
    link_bps: int, frame_bytes: int, direction: Direction, source: str, *, assumed: bool = False
) -> Ceiling:
    """Line rate of a link, IEEE 802.3: each frame has 20 bytes of preamble, SFD and gap."""
    pps = float(line_rate_pps(link_bps, frame_bytes))
    return Ceiling(
        element=ETHERNET,
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


def infiniband_ceiling(
    link_bps: int, frame_bytes: int, direction: Direction, source: str, *, assumed: bool = False
) -> Ceiling:
    """Packets of IP over InfiniBand, each with what an Ethernet frame of `frame_bytes` carries.

    `link_bps` is the rate by which the link is called.
    """
    data_bps = INFINIBAND_DATA_BPS.get(link_bps, link_bps)
    payload_bytes = max(0, frame_bytes - FRAME_OF_PAYLOAD_BYTES)
    most_bps = FDR10_BPS if link_bps == FDR10_BPS else data_bps
    bits = 8 * (payload_bytes + INFINIBAND_BYTES)
    shown = f"{data_bps / 1e9:.4g} Gb/s"
    if most_bps != data_bps:
        shown = f"{data_bps / 1e9:.4g} (QDR) to {most_bps / 1e9:.4g} (FDR10) Gb/s"
    return Ceiling(
        element=INFINIBAND,
        direction=direction,
        frame_bytes=frame_bytes,
        load_pps=Band(low=data_bps / bits, high=most_bps / bits),
        formula=f"data rate / (8 x (IP packet + {INFINIBAND_BYTES} bytes))",
        inputs=(
            Input(name="link", shown=f"{link_bps / 1e9:g} Gb/s", source=source, assumed=assumed),
            Input(name="data rate", shown=shown, source=source),
        ),
    )


def is_without_link(ledger: Ledger) -> bool:
    """Whether the speed of the link is only what the port could do: no link gave it."""
    return any(
        c.element in WIRES and any(item.assumed for item in c.inputs) for c in ledger.ceilings
    )
