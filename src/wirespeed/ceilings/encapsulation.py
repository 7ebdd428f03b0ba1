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
IPV6_MORE_BYTES = 20
"""An outer IPv6 header is 40 bytes (RFC 8200 section 3), an IPv4 one 20."""
MTU_ROOM_BYTES = {Encapsulation.VLAN: 0, Encapsulation.VXLAN: 50, Encapsulation.GENEVE: 50}
"""By how much the underlay's MTU must exceed the tunnel's.

The inner Ethernet header lies within the outer MTU, the outer one does not: 14 + 20 + 8 + 8. A tag
is no part of the MTU (Linux gives 4 bytes beyond it).
"""


def added_bytes(kind: Encapsulation, ip_version: int = 4) -> int:
    """Bytes that a frame grows by on the wire; `ip_version` is that of a tunnel's outer header."""
    is_longer = kind is not Encapsulation.VLAN and ip_version == 6
    return ON_WIRE_BYTES[kind] + (IPV6_MORE_BYTES if is_longer else 0)


def encapsulation_ceiling(
    link_bps: int,
    frame_bytes: int,
    kind: Encapsulation,
    direction: Direction,
    source: str,
    *,
    ip_version: int = 4,
) -> Ceiling:
    """Frames of `frame_bytes`, counted before they are put into `kind`, that fill the link."""
    added = added_bytes(kind, ip_version)
    pps = float(line_rate_pps(link_bps, frame_bytes + added))
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
                shown=f"{added} bytes of {kind}",
                source="RFC 7348, RFC 8926, IEEE 802.1Q",
            ),
        ),
    )
