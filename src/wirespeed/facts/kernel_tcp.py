"""What TCP sent and sent again between the two readings of the capture."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Known, Observed, Unreadable, read_as

SOURCE = "grep Tcp: /proc/net/snmp"


@dataclass(frozen=True, slots=True)
class TcpCounts(Fact):
    """Of every connection of this network namespace together."""

    sent_segments: Observed[int]
    """Between the two readings, without what was sent again. With TSO a segment is one frame."""
    resent_segments: Observed[int]
    bbr_module: Observed[bool]
    """Whether BBR is loaded, or can be: its module lies beside the kernel."""

    script: ClassVar[str] = """\
show tcp-counts - grep '^Tcp:' /proc/net/snmp
bbr_module() {
	read -r release </proc/sys/kernel/osrelease
	grep -h tcp_bbr "/lib/modules/$release/modules.dep" "/lib/modules/$release/modules.builtin"
}
show bbr-module - bbr_module
"""
    script_again: ClassVar[str] = "show tcp-counts-again - grep '^Tcp:' /proc/net/snmp\n"

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `tcp-counts` twice: a line of names, a line of numbers."""
        readings = [
            read_as(capture.text(name, SOURCE), _counts)
            for name in ("tcp-counts", "tcp-counts-again")
        ]
        return cls(
            _delta(readings, "OutSegs"), _delta(readings, "RetransSegs"), _bbr_module(capture)
        )


def _counts(text: str) -> dict[str, int]:
    lines = [line.split() for line in text.splitlines()]
    if len(lines) != 2 or len(lines[0]) != len(lines[1]):
        raise ValueError("it is not a line of names and one of numbers")
    return {name: int(number) for name, number in zip(lines[0][1:], lines[1][1:], strict=True)}


def _delta(readings: list[Observed[dict[str, int]]], name: str) -> Observed[int]:
    counts = []
    for reading in readings:
        if not isinstance(reading, Known):
            return reading
        if name not in reading.value:
            return Unreadable(f"it has no {name}", SOURCE)
        counts.append(reading.value[name])
    if counts[1] < counts[0]:
        return Unreadable(f"{name} went back", SOURCE)
    return Known(counts[1] - counts[0], SOURCE)


def _bbr_module(capture: Capture) -> Observed[bool]:
    source = "modinfo tcp_bbr"
    section = capture.section("bbr-module")
    if section is None:
        return Unreadable("the capture has no such section", source)
    if "tcp_bbr.ko" in section.output:
        return Known(True, source)
    if section.returncode == 1:
        return Known(False, source)
    return Unreadable("the modules of this kernel could not be listed", source)
