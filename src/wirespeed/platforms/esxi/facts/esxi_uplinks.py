"""What each uplink of an ESXi host is, beyond the list of them, and what it lost since the boot."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture, Section
from wirespeed.model.fact import EsxiFact
from wirespeed.model.observed import Absent, Known, Observed, read_as

_LINE = re.compile(r"^ *([A-Za-z][A-Za-z ]{1,40}):[ ]*(.*?) *$", re.M)
PAUSES = ("Pause RX", "Pause TX")
TRUTH = {"true": True, "false": False}


def table(text: str) -> dict[str, str]:
    """Read `Key: value` lines, as esxcli prints one thing."""
    return {match[1]: match[2] for match in _LINE.finditer(text)}


def needed(said: dict[str, str], name: str) -> str:
    """Give one value of a table. Raises ValueError."""
    if name not in said:
        raise ValueError(f"no {name} there")
    return said[name]


@dataclass(frozen=True, slots=True)
class EsxiUplink:
    """One uplink, by its name."""

    name: str
    driver_version: Observed[str]
    firmware: Observed[str]
    negotiates: Observed[bool]
    """Whether the link is negotiated."""
    advertised_mb: Observed[tuple[int, ...]]
    """Speeds that it may run at, in Mb/s, ascending."""
    cable: Observed[str]
    """`DA`, `Twisted Pair`, `FIBRE`, …; Absent: it names none."""
    pauses: Observed[bool]
    """Whether it asks the other end for a pause: `Pause RX` or `Pause TX`."""
    counters: Observed[dict[str, int]]
    """As `Receive missed errors`; since the driver was loaded."""

    @property
    def counters_source(self) -> str:
        """Command that shows its counters."""
        return f"esxcli network nic stats get -n {self.name}"


@dataclass(frozen=True, slots=True)
class EsxiUplinks(EsxiFact):
    """All uplinks that could be asked, by name."""

    uplinks: dict[str, EsxiUplink]

    esxi: ClassVar[str] = r"""
$limit esxcli network nic list |
	sed -n 's/^\(vmnic[0-9]\{1,3\}\) .*/\1/p' |
	while read -r nic; do
		run esxi-uplink "$nic" esxcli network nic get -n "$nic" </dev/null
		run esxi-counters "$nic" esxcli network nic stats get -n "$nic" </dev/null
	done
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read each; one that has counters alone is left out."""
        counters = capture.sections("esxi-counters")
        return cls(
            {
                name: _uplink(section, counters.get(name))
                for name, section in capture.sections("esxi-uplink").items()
            }
        )


def _uplink(section: Section, counters: Section | None) -> EsxiUplink:
    source = f"esxcli network nic get -n {section.subject}"
    said = read_as(section.text(source), table)
    stats = f"esxcli network nic stats get -n {section.subject}"
    return EsxiUplink(
        name=section.subject,
        driver_version=_of(said, "Version"),
        firmware=_of(said, "Firmware Version"),
        negotiates=read_as(_of(said, "Auto Negotiation"), _truth),
        advertised_mb=read_as(_of(said, "Advertised Link Modes"), _speeds),
        cable=_of(said, "Cable Type"),
        pauses=read_as(said, lambda all_: any(_truth(needed(all_, name)) for name in PAUSES)),
        counters=read_as(counters.text(stats), _numbers)
        if counters is not None
        else Absent(stats, "the capture has no such section"),
    )


def _of(said: Observed[dict[str, str]], name: str) -> Observed[str]:
    if isinstance(said, Known) and not said.value.get(name):
        return Absent(said.source, f"no {name} there")
    return read_as(said, lambda all_: needed(all_, name))


def _truth(word: str) -> bool:
    if word not in TRUTH:
        raise ValueError(f"{word[:40]!r} is neither true nor false")
    return TRUTH[word]


def _speeds(modes: str) -> tuple[int, ...]:
    """Read `10000baseT/Full, 25000baseT/Full`; newer releases write `25000BaseCR/Full`, `Auto`."""
    found = {int(mb) for mb in re.findall(r"(?<!\w)(\d{2,6})(?:[Bb]ase|None)", modes)}
    if not found:
        raise ValueError(f"no speed is there: {modes[:40]!r}")
    return tuple(sorted(found))


def _numbers(text: str) -> dict[str, int]:
    found = {
        key: int(value) for key, value in table(text).items() if re.fullmatch(r"[0-9]{1,20}", value)
    }
    if not found:
        raise ValueError("no counter is there")
    return found
