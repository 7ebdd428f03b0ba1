"""What each uplink of an ESXi host is, beyond the list of them, and what it lost since the boot."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture, Section
from wirespeed.model.fact import EsxiFact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, read_as

_LINE = re.compile(r"^ *([A-Za-z][A-Za-z ]{1,40}):(.*)$", re.M)
TRUTH = {"true": True, "false": False}
FEC = re.compile(r"Requested FEC Mode: *(\S{1,20})\s+FEC Mode: *(\S{1,20})")
"""Tests of https://github.com/intel/mfd-network-adapter: `Requested FEC Mode: RS-FEC FEC Mode:
No-FEC`; where it fails, `ERROR: Vmnic specified doesn't exist or is unsupported` with 0."""


def table(text: str) -> dict[str, str]:
    """Read `Key: value` lines, as esxcli prints one thing."""
    return {match[1]: match[2].strip(" ") for match in _LINE.finditer(text)}


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
    sends_pause: Observed[bool]
    """Whether it may ask the other end to wait: `Pause TX`."""
    fec: Observed[tuple[str, str]]
    """What is requested and what runs: `Auto-FEC`, `No-FEC`, `RS-FEC`, `FC-FEC/BASE-R`. Of cards of
    Intel with the vendor's plug-in alone: esxcli itself has no FEC."""
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
# Intel's plug-in (intnetcli) is the one public reader of FEC; without it its namespace is unknown.
if $limit esxcli intnet fec list >/dev/null 2>&1; then
	$limit esxcli network nic list |
		sed -n 's/^\(vmnic[0-9]\{1,3\}\) .*/\1/p' |
		while read -r nic; do
			run esxi-fec "$nic" esxcli intnet fec get -n "$nic" </dev/null
		done
fi
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read each; one that has counters alone is left out."""
        counters, fec = capture.sections("esxi-counters"), capture.sections("esxi-fec")
        return cls(
            {
                name: _uplink(section, counters.get(name), fec.get(name))
                for name, section in capture.sections("esxi-uplink").items()
            }
        )


def _uplink(section: Section, counters: Section | None, fec: Section | None) -> EsxiUplink:
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
        sends_pause=read_as(_of(said, "Pause TX"), _truth),
        fec=_fec(section.subject, fec),
        counters=read_as(counters.text(stats), _numbers)
        if counters is not None
        else Absent(stats, "the capture has no such section"),
    )


def _fec(name: str, section: Section | None) -> Observed[tuple[str, str]]:
    source = f"esxcli intnet fec get -n {name}"
    if section is None:
        return Unreadable("esxcli has no FEC without a plug-in of the card's vendor", source)
    text = section.text(source)
    match = FEC.search(text.value) if isinstance(text, Known) else None
    if match is None:
        return Absent(source, "the plug-in says none") if isinstance(text, Known) else text
    return Known((match[1], match[2]), source)


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
