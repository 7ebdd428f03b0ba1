"""The state of one PCI Express link: what facts give, and ceilings are computed from."""

from dataclasses import dataclass

ENCODING_8B10B_UP_TO_GT_PER_S = 5.0
"""2.5 and 5 GT/s send 10 bits for 8; from 8 GT/s on 130 for 128 (PCIe Base 5.0 section 4.2)."""
FLITS_FROM_GT_PER_S = 64.0
"""64 GT/s sends flits, bit for bit (PCIe Base 6.0 section 4.2; Linux' PCIE_SPEED2MBS_ENC)."""


@dataclass(frozen=True, slots=True)
class PcieLink:
    """One link: its two ends have one state. None: it could not be read, and bands get wider."""

    gt_per_s: float
    """10^9 transfers per second and lane."""
    lanes: int
    max_payload_bytes: int | None = None
    """Largest data of one write or completion: Device Control's Max_Payload_Size."""
    max_read_request_bytes: int | None = None
    """Most that one read request asks for: Device Control's Max_Read_Request_Size."""

    @property
    def has_flits(self) -> bool:
        """Whether packets lie in flits of 256 bytes. A slower link may have them too, unread."""
        return self.gt_per_s >= FLITS_FROM_GT_PER_S

    @property
    def raw_bps(self) -> float:
        """Bits per second in each direction after encoding."""
        share = 8 / 10 if self.gt_per_s <= ENCODING_8B10B_UP_TO_GT_PER_S else 128 / 130
        if self.has_flits:
            share = 1
        return self.gt_per_s * 1e9 * share * self.lanes
