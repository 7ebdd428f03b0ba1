"""In what two captures differ: of one host before and after, or of a model and a real card. Pure.

Ports of one driver are taken in their order, and called as in the first capture: netdevs and PCI
addresses of two hosts are not the same. Settings are compared by meaning, as after undo
(`host_state`); of all else that a program prints as `name: value`, the names.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from wirespeed.doctor.anonymous_names import branches
from wirespeed.doctor.host_state import differences, values_of
from wirespeed.model.capture import Capture, Section, parse_capture
from wirespeed.model.fact import HostFacts

NAME = re.compile(r"^[ \t]*([A-Za-z][\w .()/-]{0,60}?)[ \t]*:(?:\s|$)", re.M)
DRIVER, BUS = re.compile(r"^driver: (\S+)$", re.M), re.compile(r"^bus-info: (\S+)$", re.M)
SHOWN = 12
"""Names of a section that only one capture has."""


class _Port(NamedTuple):
    netdev: str
    driver: str
    address: str


def capture_differences(first: str, second: str) -> Iterator[str]:
    """Give a line for each difference, the first capture's side before the second's."""
    one = parse_capture(first, "first")
    other = parse_capture(_renamed(second, one), "second")
    for which, capture in (("first", one), ("second", other)):
        if not capture.complete:
            yield f"the {which} capture was cut off: what it lacks may be on the host all the same"
    sides = [values_of(HostFacts("host", capture)) for capture in (one, other)]
    for found in differences("host", *sides):
        what = f" {found.what}" if found.what else ""
        yield f"{found.subject}{what}: {found.before} | {found.now}"
    yield from _names(one, other)


def _ports(capture: Capture) -> list[_Port]:
    found = []
    for netdev, section in capture.sections("ethtool-i").items():
        driver, bus = DRIVER.search(section.output), BUS.search(section.output)
        if driver and bus:
            found.append(_Port(netdev, driver[1], bus[1]))
    return sorted(found, key=lambda port: port.address)


def _renamed(text: str, first: Capture) -> str:
    """Call the ports of a capture as the ports of the first that have their driver."""
    own = _ports(parse_capture(text, "second"))
    names: dict[str, str] = {}
    for driver in {port.driver for port in own}:
        theirs = [port for port in _ports(first) if port.driver == driver]
        mine = [port for port in own if port.driver == driver]
        for port, wanted in zip(mine, theirs, strict=False):
            names |= {port.netdev: wanted.netdev, port.address: wanted.address}
    # A port without a partner keeps its own name, unless a partner's port has it now.
    taken = set(names.values())
    names |= {p.netdev: f"{p.netdev}-second" for p in own if p.netdev in taken - set(names)}
    if not names:
        return text
    # At once: the name that one port gets may be what another had.
    return re.sub(rf"(?<![\w.]){branches(names)}(?!\w)", lambda match: names[match[0]], text)


def _names(one: Capture, other: Capture) -> Iterator[str]:
    sections: dict[tuple[str, str], list[Section]] = {}
    for capture in (one, other):
        for section in capture.all_sections():
            sections.setdefault((section.name, section.subject), []).append(section)
    for (name, subject), found in sections.items():
        where = f"{name} {subject}".strip()
        if len(found) == 1:
            which = "first" if one.section(name, subject) else "second"
            yield f"{where}: only the {which} has this section"
            continue
        names = [set(NAME.findall(section.output)) for section in found]
        for which, only in (("first", names[0] - names[1]), ("second", names[1] - names[0])):
            if only:
                more = f" and {len(only) - SHOWN} more" if len(only) > SHOWN else ""
                yield f"{where}: only the {which} has {', '.join(sorted(only)[:SHOWN])}{more}"
