"""What `ping -f -q` of iputils prints, read strictly. Pure.

Source: finish() in ping_common.c, later ping_print_finish() in ping_output.c. The loss is printed
with `%g`, so a small one is `5e-05%`. `pipe` and `ipg/ewma` stand after the times, and where
nothing came back there is no line of times. Other pings (busybox, inetutils) print `round-trip`:
refused.
"""

import re
from dataclasses import dataclass

_PACKETS = re.compile(
    r"^(\d+) packets transmitted, (\d+) (?:packets )?received"
    r"(?:, \+(\d+) duplicates)?(?:, \+\d+ corrupted)?(?:, \+(\d+) errors)?, [\d.e+-]+% packet loss",
    re.M,
)
_TIMES = re.compile(
    r"^rtt min/avg/max/mdev = (\d+\.\d+)/(\d+\.\d+)/(\d+\.\d+)/(\d+\.\d+) ms\b", re.M
)
_US = 1000


@dataclass(frozen=True, slots=True)
class PingFigures:
    """One ping; times in microseconds, None where nothing came back."""

    sent: int
    received: int
    duplicates: int
    errors: int
    min_us: float | None
    mean_us: float | None
    max_us: float | None
    mdev_us: float | None


def parse_ping(text: str) -> PingFigures:
    """Read one ping. Raises ValueError with the reason."""
    packets = _PACKETS.search(text)
    if packets is None:
        raise ValueError("ping printed no summary that iputils would")
    sent, received, duplicates, errors = (int(number or 0) for number in packets.groups())
    times = _TIMES.search(text)
    if times is None and received:
        raise ValueError("ping printed no `rtt min/avg/max/mdev`; is it of iputils?")
    if received > sent:
        raise ValueError(f"{received} answers to {sent} packets")
    if times is None:
        return PingFigures(sent, received, duplicates, errors, None, None, None, None)
    least, mean, most, mdev = (round(float(ms) * _US, 3) for ms in times.groups())
    if not least <= mean <= most:
        raise ValueError(f"a mean of {mean} us between {least} and {most}")
    return PingFigures(sent, received, duplicates, errors, least, mean, most, mdev)
