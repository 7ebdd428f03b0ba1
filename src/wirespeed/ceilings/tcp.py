"""What one TCP connection can carry: a window for each round trip; and goodput of frames."""

import math

from wirespeed.model.ceiling import Band, Ceiling, Direction, Input
from wirespeed.model.units import FCS_BYTES, line_rate_pps

ETHERNET_HEADER_BYTES = 14
IPV4_HEADER_BYTES = 20
"""RFC 791 section 3.1, without options."""
TCP_HEADER_BYTES = 20
"""RFC 9293 section 3.1, without options."""
TCP_TIMESTAMP_BYTES = 12
"""RFC 7323 section 3.2, padded to 4 bytes; Linux sends it unless net.ipv4.tcp_timestamps is 0."""
FRAME_HEADER_BYTES = (
    ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + TCP_HEADER_BYTES + TCP_TIMESTAMP_BYTES
)
UNSCALED_WINDOW_BYTES = 65535
"""What the 16 bits of a header hold: RFC 9293 section 3.1."""
SLOWER_LINKS_BPS = tuple(
    int(gbps * 1e9) for gbps in (0.01, 0.1, 1, 2.5, 5, 10, 25, 40, 50, 100, 200)
)
"""Speeds of IEEE 802.3 that a port on the way may have."""
FULL_FRAMES_BYTES = (1518, 9018)
"""Full frames of an MTU of 1500, and of 9000."""
NEARLY = 0.992
"""Slow start and a lost segment take a part: 934 to 941 Mb/s are usual on a link of 1 Gb/s."""


def tcp_payload_bytes(frame_bytes: int) -> int:
    """TCP payload of a full frame of `frame_bytes` with FCS: IPv4, time stamps, no other option.

    1448 for a frame of 1518 bytes. 0 where the headers alone fill it. An outer header, as VXLAN's,
    is not in `frame_bytes`: it comes on top of it, and leaves the payload as it is.
    """
    return max(0, frame_bytes - FCS_BYTES - FRAME_HEADER_BYTES)


def goodput_bps(load_pps: float, frame_bytes: int) -> float:
    """Bits per second of TCP payload, as iperf3 counts, in `load_pps` full frames."""
    return load_pps * 8 * tcp_payload_bytes(frame_bytes)


def tcp_window_ceiling(
    window_bytes: int,
    rtt_s: float,
    frame_bytes: int,
    direction: Direction,
    source: str,
    *,
    most_window_bytes: int | None = None,
) -> Ceiling:
    """Frames per second of one connection: it has at most a window in flight (RFC 9293 3.8.6).

    `window_bytes` is the usable window, not the socket's buffer, of which Linux keeps a part for
    its own accounts. Where how much is not known, `most_window_bytes` gives the upper end of the
    band; None: the same. Raises ValueError for a frame without payload.
    """
    most = window_bytes if most_window_bytes is None else most_window_bytes
    payload = tcp_payload_bytes(frame_bytes)
    if not payload:
        raise ValueError(f"a frame of {frame_bytes} bytes has no room for TCP payload")
    shown = f"{window_bytes}" if most == window_bytes else f"{window_bytes} to {most}"
    return Ceiling(
        element="tcp window",
        direction=direction,
        frame_bytes=frame_bytes,
        load_pps=Band(low=window_bytes / rtt_s / payload, high=most / rtt_s / payload),
        formula="window / round-trip time / TCP payload of a frame",
        inputs=(
            Input(name="window", shown=f"{shown} bytes", source=source),
            Input(name="round-trip time", shown=f"{rtt_s * 1e3:g} ms", source="as given"),
            Input(name="payload", shown=f"{payload} bytes", source="IPv4, TCP with time stamps"),
            Input(name="connections", shown="one", source="several at once have more together"),
        ),
    )


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


def filled_link_bps(carried_bps: float) -> int | None:
    """Give the speed of a link that TCP with this goodput fills; None: it fills none.

    The upper end is that of no time stamps: 12 bytes more of each frame are payload.
    """
    for link_bps in SLOWER_LINKS_BPS:
        for frame_bytes in FULL_FRAMES_BYTES:
            frames_pps = float(line_rate_pps(link_bps, frame_bytes))
            payload_bytes = tcp_payload_bytes(frame_bytes)
            least = 8 * frames_pps * payload_bytes * NEARLY
            most = 8 * frames_pps * (payload_bytes + TCP_TIMESTAMP_BYTES)
            if least <= carried_bps <= most:
                return link_bps
    return None
