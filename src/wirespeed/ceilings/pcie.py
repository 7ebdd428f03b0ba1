"""What a PCI Express link can carry of frames."""

from dataclasses import dataclass

from wirespeed.model.ceiling import Band, Ceiling, Direction, Input

TLP_OVERHEAD_BYTES = 24
"""Framing 2 or 4, sequence 2, header 12 or 16 (64-bit address), LCRC 4; rounded up to the worst."""
FCS_BYTES = 4


@dataclass(frozen=True, slots=True)
class PcieLink:
    """One hop."""

    gt_per_s: float
    lanes: int
    max_payload_bytes: int = 256
    max_read_request_bytes: int = 512


def pcie_ceiling(
    link: PcieLink, frame_bytes: int, direction: Direction, element: str, source: str
) -> Ceiling:
    """Frames per second through one hop, headers only."""
    encoding = 128 / 130 if link.gt_per_s >= 8 else 8 / 10
    payload = frame_bytes - FCS_BYTES
    tlps = -(-payload // link.max_payload_bytes)
    on_link = payload + tlps * TLP_OVERHEAD_BYTES
    pps = link.gt_per_s * 1e9 * encoding * link.lanes / (8 * on_link)
    return Ceiling(
        element=element,
        direction=direction,
        frame_bytes=frame_bytes,
        load_pps=Band(low=pps, high=pps),
        formula="GT/s x encoding x lanes / (8 x (frame + TLPs x overhead))",
        inputs=(
            Input(name="link", shown=f"x{link.lanes} at {link.gt_per_s:g} GT/s", source=source),
        ),
    )
