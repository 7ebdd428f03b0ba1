"""Ports of switches that are Linux hosts: SONiC (tables) and Cumulus Linux with NVUE (JSON)."""

import re
from collections.abc import Iterator
from typing import Any

from wirespeed.model.json_value import read_json
from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.platforms.switch.facts.switchport_port import (
    NOBODY,
    Neighbor,
    Ports,
    SwitchPort,
    bps_of,
    chosen,
    counted,
    not_shown,
    on_off,
    with_neighbors,
)

SONIC = "show interfaces status"
SONIC_AUTO = "show interfaces autoneg status"
SONIC_LLDP = "show lldp table"
SONIC_COUNTERS = "show interfaces counters"
NVUE = "nv show interface -o json"
LLDPCLI = "lldpcli show neighbors -f json"
FEC_WORDS = {
    "none": "off", "off": "off", "rs": "rs", "fc": "baser", "baser": "baser", "auto": "auto",
}  # fmt: skip
DASHES = re.compile(r"^ *-{3,}[- ]*$")
COLUMN = re.compile(r"-+")
NOT_TOLD = ("N/A", "")


def sonic(said: dict[str, Observed[str]]) -> Ports:
    """Read the tables by the columns that their dashes mark; their number differs by release."""
    status = said["status"]
    if not isinstance(status, Known):
        return status
    rows = list(_table(status.value))
    if not rows:
        raise ValueError("no table of ports")
    auto = said["autoneg"]
    modes = (
        {row.get("Interface", ""): row.get("Auto-Neg Mode", "") for row in _table(auto.value)}
        if isinstance(auto, Known)
        else {}
    )
    errors = _sonic_errors(said["counters"])
    ports = (
        _sonic(row, modes, errors)
        for row in rows
        if row.get("Interface", "").startswith("Ethernet")
    )
    return Known(tuple(with_neighbors(ports, _sonic_heard(said["lldp"]))), SONIC)


def _sonic_errors(text: Observed[str]) -> dict[str, str]:
    """Give RX_ERR by port, where it is a count: some releases write `1,000`."""
    rows = _table(text.value) if isinstance(text, Known) else iter(())
    named = ((row.get("IFACE") or row.get("Iface") or "", row.get("RX_ERR", "")) for row in rows)
    return {name: errors.replace(",", "") for name, errors in named if errors not in NOT_TOLD}


def _sonic(row: dict[str, str], modes: dict[str, str], errors: dict[str, str]) -> SwitchPort:
    name = row["Interface"]
    is_up = row.get("Oper") == "up"
    bps: Observed[int] = (
        Known(bps_of(row["Speed"]), SONIC) if row.get("Speed") else not_shown(SONIC)
    )
    mode = modes.get(name, "")
    negotiates: Observed[bool] = (
        on_off(mode, SONIC_AUTO) if mode not in NOT_TOLD else not_shown(SONIC_AUTO)
    )
    is_forced = isinstance(negotiates, Known) and not negotiates.value
    fec = row.get("FEC", "")
    return SwitchPort(
        name=name,
        is_enabled=Known(row.get("Admin") == "up", SONIC),
        is_up=Known(is_up, SONIC),
        link_bps=bps if is_up else Absent(SONIC, "no link"),
        set_bps=bps if is_forced else not_shown(SONIC),
        autonegotiation=negotiates,
        fec=chosen(fec, FEC_WORDS, SONIC) if fec not in NOT_TOLD else not_shown(SONIC),
        mtu_bytes=counted(row.get("MTU"), SONIC),
        fcs_errors=not_shown(SONIC_COUNTERS),
        runts=not_shown(SONIC_COUNTERS),
        symbol_errors=not_shown(SONIC_COUNTERS),
        input_errors=counted(errors[name], SONIC_COUNTERS)
        if name in errors
        else not_shown(SONIC_COUNTERS),
        neighbors=NOBODY,
    )


def _sonic_heard(text: Observed[str]) -> Observed[list[tuple[str, Neighbor]]]:
    if not isinstance(text, Known):
        return text
    rows = (row for row in _table(text.value) if row.get("LocalPort", "").startswith("Ethernet"))
    found = [
        (
            row["LocalPort"],
            Neighbor(
                row.get("RemoteDevice", ""),
                row.get("RemotePortID", ""),
                row.get("RemotePortDescr", ""),
            ),
        )
        for row in rows
    ]
    return Known(found, SONIC_LLDP)


def _table(text: str) -> Iterator[dict[str, str]]:
    """Give the rows of a table under its line of dashes, each by the names in the line above."""
    lines = text.splitlines()
    for at in range(1, len(lines)):
        columns = [match.span() for match in COLUMN.finditer(lines[at])]
        if DASHES.match(lines[at]) and len(columns) > 1:
            break
    else:
        return
    # A last column may be wider than its dashes.
    columns[-1] = (columns[-1][0], 1000)
    names = [lines[at - 1][start:end].strip() for start, end in columns]
    for line in lines[at + 1 :]:
        if line.strip() and not line.startswith("---"):
            cells = (line[start:end].strip() for start, end in columns)
            yield dict(zip(names, cells, strict=True))


def cumulus(said: dict[str, Observed[str]]) -> Ports:
    """Read what NVUE shows as operational; a port is what has `swp` in its name."""
    text = said["interfaces"]
    if not isinstance(text, Known):
        return text
    rows = read_json(text.value)
    ports = (_cumulus(name, row.get("link", {})) for name, row in rows.items() if "swp" in name)
    return Known(tuple(with_neighbors(ports, _lldpcli(said["lldp"]))), NVUE)


def _cumulus(name: str, link: dict[str, Any]) -> SwitchPort:
    state = link.get("oper-status") or _word(link.get("state"))
    admin = link.get("admin-status") or ("up" if state == "up" else "")
    errors = link.get("stats", {}).get("in-errors")
    auto, fec, shown = link.get("auto-negotiate"), link.get("fec"), link.get("speed")
    is_up = state == "up"
    bps: Observed[int] = not_shown(NVUE)
    if shown and shown != "auto":
        bps = Known(bps_of(str(shown)), NVUE)
    negotiates = on_off(auto, NVUE) if auto is not None else not_shown(NVUE)
    is_forced = isinstance(negotiates, Known) and not negotiates.value
    return SwitchPort(
        name=name,
        is_enabled=Known(admin == "up", NVUE) if admin else not_shown(NVUE),
        is_up=Known(is_up, NVUE) if state else not_shown(NVUE),
        link_bps=bps if is_up else Absent(NVUE, "no link"),
        set_bps=bps if is_forced else not_shown(NVUE),
        autonegotiation=negotiates,
        fec=chosen(fec, FEC_WORDS, NVUE) if fec is not None else not_shown(NVUE),
        mtu_bytes=counted(link.get("mtu"), NVUE),
        fcs_errors=not_shown(f"ethtool -S {name}"),
        runts=not_shown(f"ethtool -S {name}"),
        symbol_errors=not_shown(f"ethtool -S {name}"),
        input_errors=counted(errors, NVUE) if errors is not None else not_shown(NVUE),
        neighbors=NOBODY,
    )


def _word(state: object) -> str:
    """Give the state: a word, or an object with it as its only key, as some releases print it."""
    if isinstance(state, dict):
        return str(next(iter(state), ""))
    return str(state or "")


def _lldpcli(text: Observed[str]) -> Observed[list[tuple[str, Neighbor]]]:
    if not isinstance(text, Known):
        return text
    try:
        found = list(_lldp_rows(read_json(text.value)["lldp"].get("interface", [])))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return Unreadable("what it says of its neighbours makes no sense", LLDPCLI)
    return Known(found, LLDPCLI)


def _lldp_rows(rows: Any) -> Iterator[tuple[str, Neighbor]]:
    """Read lldpcli's JSON: of one interface alone it is no list."""
    for row in rows if isinstance(rows, list) else [rows]:
        for name, one in row.items():
            system = _system(one.get("chassis", {}))
            port = one.get("port", {})
            word = port.get("id", {}).get("value", "")
            yield name, Neighbor(str(system), str(word), str(port.get("descr", "")))


def _system(chassis: dict[str, Any]) -> str:
    """Give the name that holds the chassis; of one without, lldpd puts `id` in its place."""
    return next((k for k, v in chassis.items() if isinstance(v, dict) and k != "id"), "")
