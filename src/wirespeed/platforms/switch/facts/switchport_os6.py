"""Ports of Dell N-series switches (OS6): a table of ports, and one of LLDP."""

import re
from collections.abc import Iterator

from wirespeed.model.observed import Absent, Known, Observed
from wirespeed.platforms.switch.facts.switchport_port import (
    APART,
    NOBODY,
    Neighbor,
    Ports,
    SwitchPort,
    not_shown,
    with_neighbors,
)

STATUS = "show interfaces status"
LLDP = "show lldp remote-device all"
COUNTERS = "show statistics tengigabitethernet 1/0/1"
MTU = "show interfaces detail tengigabitethernet 1/0/1"
ROW = re.compile(
    r"^((?:Gi|Te|Fo|Tw|Hu)[0-9]{1,2}/[0-9]{1,2}/[0-9]{1,3})\b.*?"
    r"(Full|Half|N/A|Unknown|Auto)\s+(Unknown|N/A|Auto|[0-9]{2,6})\s+(Auto|Off|On|Unknown|N/A)\s+"
    r"(Up|Down|D-Down|Err)\b",
    re.M,
)
HEARD = re.compile(
    r"^((?:Gi|Te|Fo|Tw|Hu)[0-9]{1,2}/[0-9]{1,2}/[0-9]{1,3})\s+[0-9]+\s+(\S+)\s+(\S+)"
    r"(?:[ \t]+(\S.*))?$",
    re.M,
)


def os6(said: dict[str, Observed[str]]) -> Ports:
    """Read the table: Port, Description, VLAN, Duplex, Speed, Neg, Link State."""
    status = said["status"]
    if not isinstance(status, Known):
        return status
    if "Neg" not in status.value:
        raise ValueError("no table of ports")
    return Known(tuple(with_neighbors(_ports(status.value), _heard(said["lldp"]))), STATUS)


def _ports(text: str) -> Iterator[SwitchPort]:
    for match in ROW.finditer(text):
        name, _, mbit, negotiates, state = match.groups()
        is_up = state == "Up"
        bps: Observed[int] = (
            Known(int(mbit) * 10**6, STATUS) if mbit.isdecimal() else Absent(STATUS, "no link")
        )
        is_auto = negotiates in ("Auto", "On")
        known_auto = negotiates in ("Auto", "On", "Off")
        yield SwitchPort(
            name=name,
            is_enabled=Known(True, STATUS)
            if is_up
            else not_shown(f"show running-config interface {name}"),
            is_up=Known(is_up, STATUS),
            link_bps=bps if is_up else Absent(STATUS, "no link"),
            set_bps=Absent(STATUS, "it negotiates") if is_auto else bps,
            autonegotiation=Known(is_auto, STATUS) if known_auto else not_shown(STATUS),
            fec=not_shown(STATUS),
            mtu_bytes=not_shown(MTU),
            fcs_errors=not_shown(COUNTERS),
            runts=not_shown(COUNTERS),
            symbol_errors=not_shown(COUNTERS),
            input_errors=APART,
            neighbors=NOBODY,
        )


def _heard(text: Observed[str]) -> Observed[list[tuple[str, Neighbor]]]:
    if not isinstance(text, Known):
        return text
    found = [
        (name, Neighbor(_system(system), port))
        for name, _, port, system in HEARD.findall(text.value)
    ]
    return Known(found, LLDP)


def _system(text: str) -> str:
    return "" if text.strip().lower() in ("(none)", "") else text.strip()
