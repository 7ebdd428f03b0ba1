"""What ports and slots carry of full frames, for an answer."""

from wirespeed.ceilings.devices import MLX5_KERNEL
from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.ceilings.pcie import pcie_ceiling
from wirespeed.ceilings.tcp import goodput_bps
from wirespeed.model.ceiling import Band, Direction
from wirespeed.model.pcie_link import PcieLink

FRAME_BYTES = 1518
"""MTU 1500."""
GIVEN = "as asked"
USUAL_PAYLOAD_BYTES, USUAL_READ_REQUEST_BYTES = 256, 512
"""What most servers of today are set to."""
GT_PER_S = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
"""By generation of PCI Express."""


def goodput_gbps(link_gbps: float) -> float:
    """Give the TCP payload that a link carries at MTU 1500, in Gb/s."""
    found = ethernet_ceiling(round(link_gbps * 1e9), FRAME_BYTES, Direction.TRANSMIT, GIVEN)
    return goodput_bps(found.load_pps.low, FRAME_BYTES) / 1e9


def slot_gbps(generation: int, lanes: int, *, both_ways: bool) -> Band:
    """Give what a slot carries on the wire (L1), in Gb/s, in the worse of the two directions."""
    link = PcieLink(
        gt_per_s=GT_PER_S[generation],
        lanes=lanes,
        max_payload_bytes=USUAL_PAYLOAD_BYTES,
        max_read_request_bytes=USUAL_READ_REQUEST_BYTES,
    )
    bands = [
        pcie_ceiling(
            link, FRAME_BYTES, way, "pcie", GIVEN, device=MLX5_KERNEL, bidirectional=both_ways
        ).load_bps_l1
        for way in Direction
    ]
    low, high = min(band.low for band in bands), min(band.high for band in bands)
    return Band(low=low / 1e9, high=high / 1e9)
