"""How much of a socket's buffer is window, and how long a round trip a window can fill."""

import math

from wirespeed.ceilings.tcp import tcp_payload_bytes
from wirespeed.model.units import line_rate_pps


def window_of_buffer_bytes(buffer_bytes: int, adv_win_scale: int) -> int:
    """Greatest receive window of a buffer, before Linux 6.6: its share is tcp_adv_win_scale's.

    The default of 1 leaves half of the buffer to the kernel's own accounts. Since 6.6 the share is
    measured on the frames that arrive, and all that is sure is that it is below 1.
    https://docs.kernel.org/networking/ip-sysctl.html (tcp_adv_win_scale)
    """
    if adv_win_scale <= 0:
        return buffer_bytes >> -adv_win_scale
    return buffer_bytes - (buffer_bytes >> adv_win_scale)


def bandwidth_delay_bytes(link_bps: int, frame_bytes: int, rtt_s: float) -> int:
    """Bytes of TCP payload in flight that fill the link for one round trip."""
    payload_per_s = float(line_rate_pps(link_bps, frame_bytes)) * tcp_payload_bytes(frame_bytes)
    return math.ceil(payload_per_s * rtt_s)


def longest_rtt_s(window_bytes: int, link_bps: int, frame_bytes: int) -> float:
    """Longest round trip at which a window still fills the link, seconds."""
    payload_per_s = float(line_rate_pps(link_bps, frame_bytes)) * tcp_payload_bytes(frame_bytes)
    return window_bytes / payload_per_s
