"""Frame sizes, wire time and line rate: the arithmetic that every rate rests on.

Names follow RFC 2544 and RFC 1242: `frame_bytes` counts from the destination address to the FCS.
"""

from fractions import Fraction

FCS_BYTES = 4
PREAMBLE_BYTES = 8
"""Preamble and start frame delimiter (IEEE 802.3 section 3.1.1)."""
INTERFRAME_GAP_BYTES = 12
"""96 bit times (IEEE 802.3 section 4.4.2)."""
WIRE_OVERHEAD_BYTES = PREAMBLE_BYTES + INTERFRAME_GAP_BYTES
MIN_FRAME_BYTES = 64
MAX_FRAME_BYTES = 9600
"""The longest jumbo frame that the tester sends."""


def wire_bytes(frame_bytes: int) -> int:
    """Bytes of wire time that one frame takes: the frame, preamble, SFD and gap.

    `frame_bytes` includes the FCS, as in RFC 2544 section 9.1.
    """
    return frame_bytes + WIRE_OVERHEAD_BYTES


def line_rate_pps(link_bps: int, frame_bytes: int) -> Fraction:
    """Frames per second that fill the link, counting 20 bytes of preamble, SFD and gap.

    `link_bps` in bits per second; `frame_bytes` includes the FCS, as in RFC 2544 section 9.1.
    """
    return Fraction(link_bps, 8 * wire_bytes(frame_bytes))


def load_bps_l1(load_pps: float, frame_bytes: float) -> float:
    """Bits per second that `load_pps` frames take on the wire, gap and preamble counted.

    `frame_bytes` is the mean of a mix, here and below.
    """
    return load_pps * 8 * (frame_bytes + WIRE_OVERHEAD_BYTES)


def load_bps_l2(load_pps: float, frame_bytes: float) -> float:
    """Bits per second of frames with their FCS, gap and preamble not counted."""
    return load_pps * 8 * frame_bytes


def load_bps_mbuf(load_pps: float, frame_bytes: float) -> float:
    """Bits per second of frames without their FCS, as DPDK's software counters see them."""
    return load_pps * 8 * (frame_bytes - FCS_BYTES)


def pct_of_line_rate(load_pps: float, line_rate_pps: float) -> float:
    """Percent of the line that a load fills; both in frames per second of the same frame size."""
    return 100 * (load_pps / line_rate_pps)  # in this order a full line is 100 exactly
