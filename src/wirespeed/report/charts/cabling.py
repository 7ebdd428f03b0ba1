"""Who is cabled to whom: two hosts, and a cable between each two of their ports."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from wirespeed.report import svg

LEFT, RIGHT, WIDE, TALL, HEAD = 10.0, 560.0, 340.0, 26.0, 62.0


class CabledHost(NamedTuple):
    """One of the two, with a line for each port."""

    title: str
    """Its name, and what it does."""
    more: str
    """What is to be known of it as a whole."""
    ports: tuple[str, ...]
    """In the order of the cables."""


def cabling(tester: CabledHost, dut: CabledHost, cables: Sequence[str]) -> Markup:
    """Draw the tester on the left, the DUT on the right; `cables` says what each one carries."""
    bottom = HEAD + TALL * len(cables) + 8
    parts: list[Markup] = []
    for x, host in ((LEFT, tester), (RIGHT, dut)):
        corners = ((x, 10), (x + WIDE, 10), (x + WIDE, bottom), (x, bottom), (x, 10))
        parts += [svg.line(*corner, *after, "base") for corner, after in pairwise(corners)]
        parts.append(svg.label(x + 10, 30, host.title, "value start"))
        parts.append(svg.label(x + 10, 46, host.more, "axis start"))
        parts += [
            svg.label(x + 10, HEAD + TALL * (number + 0.5) + 4, port, "axis start")
            for number, port in enumerate(host.ports)
        ]
    for number, cable in enumerate(cables):
        y = HEAD + TALL * (number + 0.5)
        parts.append(svg.line(LEFT + WIDE, y, RIGHT, y, "stem"))
        parts.append(svg.label((LEFT + WIDE + RIGHT) / 2, y - 5, cable, "axis middle"))
    return svg.figure(RIGHT + WIDE + 10, bottom + 10, "Who is cabled to whom", *parts)
