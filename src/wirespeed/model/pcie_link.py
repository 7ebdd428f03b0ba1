"""The state of one PCI Express link: what facts give, and ceilings are computed from."""

from dataclasses import dataclass

ENCODING_8B10B_UP_TO_GT_PER_S = 5.0
"""2.5 and 5 GT/s send 10 bits for 8; from 8 GT/s on 130 for 128 (PCIe Base 5.0 section 4.2)."""


@dataclass(frozen=True, slots=True)
class PcieLink:
    """One link: its two ends have one state. None: it could not be read, and bands get wider."""

    gt_per_s: float
    """10^9 transfers per second and lane. 64 GT/s is framed in flits, which is not modelled."""
    lanes: int
    max_payload_bytes: int | None = None
    """Largest data of one write or completion: Device Control's Max_Payload_Size."""
    max_read_request_bytes: int | None = None
    """Most that one read request asks for: Device Control's Max_Read_Request_Size."""

    @property
    def raw_bps(self) -> float:
        """Bits per second in each direction after encoding."""
        share = 8 / 10 if self.gt_per_s <= ENCODING_8B10B_UP_TO_GT_PER_S else 128 / 130
        return self.gt_per_s * 1e9 * share * self.lanes
