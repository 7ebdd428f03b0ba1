"""Ports of Dell OS9 (FTOS) and OS10 switches: `show interface`, which both print in blocks."""

import re
from collections.abc import Iterator
from itertools import pairwise

from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.platforms.switch.facts.switchport_port import (
    APART,
    NOBODY,
    Neighbor,
    Ports,
    SwitchPort,
    bps_of,
    counted,
    not_shown,
    on_off,
    with_neighbors,
)

LLDP = "show lldp neighbors"
HEAD = re.compile(
    r"^((?:TenGigabitEthernet|fortyGigE|twentyFiveGigE|hundredGigE|GigabitEthernet|Ethernet) "
    r"[0-9/:]+) is ((?:administratively )?(?:up|down)), line protocol is (up|down)",
    re.M | re.I,
)
SHOWN = re.compile(r"LineSpeed ([0-9.]+ ?(?:Mbit|G|M)\b|auto)", re.I)
AUTO = re.compile(r"Auto-Negotiation (on|off)", re.I)
FEC = re.compile(r"Configured FEC is (\S+?),", re.I)
MEDIA_FEC = re.compile(r"Configured media fec option is (\S+)", re.I)
"""Of releases, or ports, that do not tell the other."""
MTU = re.compile(r"^[ \t]*MTU ([0-9]{1,6}) bytes", re.M)
RUNTS = re.compile(r"([0-9]{1,20}) runts")
CRC = re.compile(r"([0-9]{1,20}) CRC")
COLUMNS = ("Loc PortID", "Rem Host Name", "Rem Port Id", "Rem Chassis Id")
LOCAL = re.compile(r"(?:ethernet|Te|Fo|Tf|Hu|Gi|twf) ?[0-9/:]+", re.I)
GAP = re.compile(r"\s{2,}")
NAMELESS = ("-", "Not Advertised")
"""OS9's word and OS10's for a neighbor that tells no name."""
NEXT_WORDS = {
    "none": "off", "off": "off", "auto": "auto", "cl74-fc": "baser", "cl91-rs": "rs",
    "cl108-rs": "rs",
}  # fmt: skip


def os9(said: dict[str, Observed[str]]) -> Ports:
    """Read `show interfaces`; it shows no negotiation: 10 and 40 Gb/s ports of OS9 have none."""
    return _both(said, "show interfaces")


def os10(said: dict[str, Observed[str]]) -> Ports:
    """Read `show interface`."""
    return _both(said, "show interface")


def _both(said: dict[str, Observed[str]], source: str) -> Ports:
    text = said["interfaces"]
    if not isinstance(text, Known):
        return text
    heads = list(HEAD.finditer(text.value))
    if not heads:
        raise ValueError("no block of a port")
    ends = [head.start() for head in heads[1:]] + [len(text.value)]
    blocks = ((head, text.value[head.end() : end]) for head, end in zip(heads, ends, strict=True))
    ports = (_port(head, block, source) for head, block in blocks)
    return Known(tuple(with_neighbors(ports, _heard(said["lldp"]))), source)


def _port(head: re.Match[str], block: str, source: str) -> SwitchPort:
    is_up = head[3].lower() == "up"
    shown = _one(SHOWN, block)
    auto, fec = _one(AUTO, block), _one(FEC, block) or _one(MEDIA_FEC, block)
    bps: Observed[int] = not_shown(source)
    if shown and shown.lower() != "auto":
        bps = Known(bps_of(shown), source)
    return SwitchPort(
        name=head[1],
        is_enabled=Known("administratively" not in head[2].lower(), source),
        is_up=Known(is_up, source),
        link_bps=bps if is_up else Absent(source, "no link"),
        set_bps=bps if auto.lower() == "off" else not_shown(source),
        autonegotiation=on_off(auto, source) if auto else not_shown(source),
        fec=_fec(fec, source) if fec else not_shown(source),
        mtu_bytes=_count(MTU, block, source),
        fcs_errors=_count(CRC, block, source),
        runts=_count(RUNTS, block, source),
        symbol_errors=not_shown(source),
        input_errors=APART,
        neighbors=NOBODY,
    )


def _fec(word: str, source: str) -> Observed[str]:
    found = NEXT_WORDS.get(word.lower())
    return Known(found, source) if found else Unreadable(f"{word[:40]!r} is not known", source)


def _one(pattern: re.Pattern[str], block: str) -> str:
    match = pattern.search(block)
    return match[1] if match else ""


def _count(pattern: re.Pattern[str], block: str, source: str) -> Observed[int]:
    match = pattern.search(block)
    return counted(match[1], source) if match else not_shown(source)


def _heard(text: Observed[str]) -> Observed[list[tuple[str, Neighbor]]]:
    if not isinstance(text, Known):
        return text
    return Known(list(_rows(text.value.splitlines())), LLDP)


def _rows(lines: list[str]) -> Iterator[tuple[str, Neighbor]]:
    """Cut each row at its gaps, or where the head has its columns.

    A host name has blanks (`PowerEdge MX750c ...`), or fills its column and leaves none after it:
    `localhost.local...e4:1d:2d:bf:d7:e0`, as OS9 prints it.
    """
    starts: list[int] = []
    for line in lines:
        # OS9 indents the table, and a session may take the first line's blanks away.
        row = line.strip()
        if not starts:
            places = [row.find(name) for name in COLUMNS]
            starts = places if places[0] == 0 and places == sorted(places) else []
            continue
        cells = GAP.split(row)
        if len(cells) != len(COLUMNS):
            # A row may be off by a blank: two end a cell.
            slices = (row[start:end] for start, end in pairwise(starts))
            cells = [GAP.split(cell.strip())[0] for cell in slices]
        local, system, port = cells[:3]
        if LOCAL.fullmatch(local) and port:
            yield local, Neighbor("" if system in NAMELESS else system, port)
