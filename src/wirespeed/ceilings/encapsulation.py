"""What tunnels and tags add to every frame: wire time, and room that the MTU must leave."""

from enum import StrEnum

from wirespeed.model.ceiling import Band, Ceiling, Direction, Input
from wirespeed.model.units import line_rate_pps


class Encapsulation(StrEnum):
    """What is put around a frame on its way to the wire."""

    VLAN = "VLAN"
    VXLAN = "VXLAN"
    GENEVE = "Geneve"


ON_WIRE_BYTES = {Encapsulation.VLAN: 4, Encapsulation.VXLAN: 50, Encapsulation.GENEVE: 50}
"""Bytes that each frame grows by, outer IPv4 and untagged.

VLAN: IEEE 802.1Q section 9.3. VXLAN: outer Ethernet 14, IPv4 20, UDP 8, VXLAN 8 (RFC 7348 section
5); the inner FCS is not carried. Geneve: the same with its base header of 8 (RFC 8926 section 3.4);
every option adds to it.
"""
MTU_ROOM_BYTES = {Encapsulation.VLAN: 0, Encapsulation.VXLAN: 50, Encapsulation.GENEVE: 50}
"""By how much the underlay's MTU must exceed the tunnel's.

The inner Ethernet header lies within the outer MTU, the outer one does not: 14 + 20 + 8 + 8. A tag
is no part of the MTU (Linux gives 4 bytes beyond it).
"""


def encapsulation_ceiling(
    link_bps: int, frame_bytes: int, kind: Encapsulation, direction: Direction, source: str
) -> Ceiling:
    """Frames of `frame_bytes`, counted before they are put into `kind`, that fill the link."""
    pps = float(line_rate_pps(link_bps, frame_bytes + ON_WIRE_BYTES[kind]))
    return Ceiling(
        element="encapsulation",
        direction=direction,
        frame_bytes=frame_bytes,
        load_pps=Band(low=pps, high=pps),
        formula="link speed / (8 x (frame + added + 20 bytes))",
        inputs=(
            Input(name="link speed", shown=f"{link_bps / 1e9:g} Gb/s", source=source),
            Input(
                name="added",
                shown=f"{ON_WIRE_BYTES[kind]} bytes of {kind}",
                source="RFC 7348, RFC 8926, IEEE 802.1Q",
            ),
        ),
    )
