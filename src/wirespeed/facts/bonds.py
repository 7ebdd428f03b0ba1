"""Bonds as the driver reports them: members, their state and their link."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.netstack import NetStack
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, read_as


@dataclass(frozen=True, slots=True)
class BondMember:
    """One port of a bond."""

    netdev: str
    is_up: Observed[bool]
    """As the bond judges it (MII status)."""
    link_bps: Observed[int]
    """Absent: the bond says unknown, as for a port that is down."""
    is_full_duplex: Observed[bool]
    link_failures: Observed[int]
    """Since the member joined."""
    aggregator_id: Observed[int]
    """802.3ad: members of another aggregator than the active one carry nothing."""


@dataclass(frozen=True, slots=True)
class BondState:
    """One bond."""

    netdev: str
    mode: Observed[str]
    """In the driver's words: `fault-tolerance (active-backup)`."""
    miimon_ms: Observed[int]
    """0: the link of the members is not watched."""
    arp_interval_ms: Observed[int]
    """0 where the driver prints none: it prints it only when it is set."""
    active_member: Observed[str]
    """Absent where the mode has none, or no member is up."""
    active_aggregator_id: Observed[int]
    members: tuple[BondMember, ...]


@dataclass(frozen=True, slots=True)
class Bonds(Fact):
    """Every bond by its netdev, from /proc/net/bonding."""

    bonds: dict[str, Observed[BondState]]

    script: ClassVar[str] = """\
set +f
for path in /proc/net/bonding/*; do
	[ -e "$path" ] && run bonding "${path##*/}" cat "$path"
done
set -f
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read one section per bond. One that `ip link` has and no section is of is not read."""
        bonds: dict[str, Observed[BondState]] = {}
        for netdev in capture.sections("bonding"):
            text = capture.text("bonding", f"cat /proc/net/bonding/{netdev}", netdev)
            bonds[netdev] = read_as(text, _Bond(netdev, text.source))
        links = NetStack.parse(capture).links
        for netdev, link in links.value.items() if isinstance(links, Known) else ():
            if link.bond is not None and netdev not in bonds:
                source = f"cat /proc/net/bonding/{netdev}"
                bonds[netdev] = Unreadable("the capture does not have it", source)
        return cls(bonds)


class _Bond:
    """Reads one file: what comes before the first member is of the bond itself."""

    def __init__(self, netdev: str, source: str) -> None:
        self._netdev, self._source = netdev, source

    def __call__(self, text: str) -> BondState:
        """Raise ValueError for what is no such file."""
        own, *members = re.split(r"^Slave Interface: *", text, flags=re.M)
        if "Bonding Mode:" not in own:
            raise ValueError("no line `Bonding Mode`")
        arp = self._number(own, "ARP Polling Interval (ms)")
        return BondState(
            netdev=self._netdev,
            mode=self._line(own, "Bonding Mode"),
            miimon_ms=self._number(own, "MII Polling Interval (ms)"),
            arp_interval_ms=Known(0, self._source) if isinstance(arp, Absent) else arp,
            active_member=self._line(own, "Currently Active Slave"),
            active_aggregator_id=self._number(own, "Aggregator ID"),
            members=tuple(self._member(member) for member in members),
        )

    def _member(self, text: str) -> BondMember:
        def known_as(name: str, word: str) -> Observed[bool]:
            line = self._line(text, name)
            return Known(line.value == word, line.source) if isinstance(line, Known) else line

        return BondMember(
            netdev=text.split("\n", 1)[0].strip(),
            is_up=known_as("MII Status", "up"),
            link_bps=read_as(self._line(text, "Speed"), _bps),
            is_full_duplex=known_as("Duplex", "full"),
            link_failures=self._number(text, "Link Failure Count"),
            aggregator_id=self._number(text, "Aggregator ID"),
        )

    def _line(self, text: str, name: str) -> Observed[str]:
        match = re.search(rf"^[ \t]*{re.escape(name)}: *(.*\S)[ \t]*$", text, re.M)
        if match is None or match[1] in ("None", "Unknown", "N/A"):
            return Absent(self._source, f"{name}: {match[1] if match else 'no such line'}")
        return Known(match[1], self._source)

    def _number(self, text: str, name: str) -> Observed[int]:
        return read_as(self._line(text, name), int)


def _bps(text: str) -> int:
    """`100000 Mbps`, as the driver prints it."""
    megabits, unit = text.split()
    if unit != "Mbps":
        raise ValueError(f"{text!r} is not a speed")
    return int(megabits) * 10**6
