"""Ports of Arista EOS and Cisco NX-OS switches, which print JSON."""

from collections.abc import Iterator
from typing import Any

from wirespeed.model.json_value import read_json
from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.platforms.switch.facts.switchport_port import (
    APART,
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

EOS = "show interfaces | json"
EOS_FEC = "show interfaces error-correction | json"
EOS_LLDP = "show lldp neighbors detail | json"
EOS_SET = "show running-config interfaces"
NXOS = "show interface | json"
NXOS_LLDP = "show lldp neighbors detail | json"
NXOS_SET = "show running-config interface"
"""`show interface` has the negotiation of an optical port off, also where nothing is configured
(networktocode/ntc-templates: arista_eos_show_interfaces.raw, cisco_nxos_show_interface4.raw)."""
FEC_WORDS = {
    "auto": "auto", "off": "off", "disabled": "off", "rs-fec": "rs", "rs": "rs",
    "rs-cons16": "rs", "rs-ieee": "rs", "fc-fec": "baser", "fc": "baser",
}  # fmt: skip


EOS_FEC_WORDS = {"disabled": "off", "reedsolomon": "rs", "firecode": "baser"}


def eos(said: dict[str, Observed[str]]) -> Ports:
    """Read `interfaces` of EOS; `bandwidth` is what the link runs at, in bits per second.

    Its FEC is what is in use, not what is configured: of a port without a link it says nothing.
    """
    text = said["interfaces"]
    if not isinstance(text, Known):
        return text
    rows = read_json(text.value)["interfaces"]
    fec = _eos_fecs(said["fec"])
    ports = (
        _eos(name, row, fec) for name, row in rows.items() if row.get("hardware") == "ethernet"
    )
    return Known(tuple(with_neighbors(ports, _heard(said["lldp"], _eos_heard, EOS_LLDP))), EOS)


def _eos_fecs(text: Observed[str]) -> dict[str, Any]:
    """Give the encodings by port; none where they were not told."""
    if not isinstance(text, Known):
        return {}
    try:
        rows = read_json(text.value)["interfaceErrCorrStatuses"]
        return {name: row["errCorrEncodingStatus"] for name, row in rows.items()}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}


def _eos(name: str, row: dict[str, Any], fecs: dict[str, Any]) -> SwitchPort:
    status = row.get("interfaceStatus")
    is_up = row.get("lineProtocolStatus") == "up"
    errors = row.get("interfaceCounters", {}).get("inputErrorsDetail", {})
    auto = row.get("autoNegotiate")
    bps = counted(row.get("bandwidth"), EOS)
    fec = fecs.get(name) if is_up else None
    return SwitchPort(
        name=name,
        is_enabled=Known(status != "disabled", EOS) if status else not_shown(EOS),
        is_up=Known(is_up, EOS),
        link_bps=bps if is_up else Absent(EOS, "no link"),
        set_bps=not_shown(EOS_SET),
        autonegotiation=on_off(auto, EOS),
        fec=chosen(fec, EOS_FEC_WORDS, EOS_FEC) if fec else not_shown(EOS_FEC),
        mtu_bytes=counted(row.get("mtu"), EOS),
        fcs_errors=counted(errors.get("fcsErrors"), EOS),
        runts=counted(errors.get("runtFrames"), EOS),
        symbol_errors=counted(errors.get("symbolErrors"), EOS),
        input_errors=APART,
        neighbors=NOBODY,
    )


def _eos_heard(data: dict[str, Any]) -> Iterator[tuple[str, Neighbor]]:
    for name, port in data["lldpNeighbors"].items():
        for one in port.get("lldpNeighborInfo", ()):
            about = one.get("neighborInterfaceInfo", {})
            word = about.get("interfaceId_v2") or about.get("interfaceId") or ""
            text = about.get("interfaceDescription") or ""
            yield name, Neighbor(str(one.get("systemName", "")), str(word).strip('"'), str(text))


def nxos(said: dict[str, Observed[str]]) -> Ports:
    """Read `TABLE_interface` of NX-OS; one port alone is no list."""
    text = said["interfaces"]
    if not isinstance(text, Known):
        return text
    rows = _rows(read_json(text.value), "interface")
    ports = (_nxos(row) for row in rows if str(row.get("interface", "")).startswith("Ethernet"))
    return Known(tuple(with_neighbors(ports, _heard(said["lldp"], _nxos_heard, NXOS_LLDP))), NXOS)


def _nxos(row: dict[str, Any]) -> SwitchPort:
    is_up = row.get("state") == "up"
    shown = str(row.get("eth_speed", ""))
    bps: Observed[int] = not_shown(NXOS)
    if shown and not shown.startswith("auto"):
        bps = Known(bps_of(shown), NXOS)
    admin = row.get("admin_state")
    fec = row.get("eth_admin_fec_state")
    return SwitchPort(
        name=str(row["interface"]),
        is_enabled=Known(admin == "up", NXOS) if admin else not_shown(NXOS),
        is_up=Known(is_up, NXOS),
        link_bps=bps if is_up else Absent(NXOS, "no link"),
        set_bps=not_shown(NXOS_SET),
        autonegotiation=on_off(row.get("eth_autoneg"), NXOS),
        fec=chosen(fec, FEC_WORDS, NXOS) if fec else not_shown(NXOS),
        mtu_bytes=counted(row.get("eth_mtu"), NXOS),
        fcs_errors=counted(row.get("eth_crc"), NXOS),
        runts=counted(row.get("eth_runts"), NXOS),
        symbol_errors=not_shown(NXOS),
        input_errors=APART,
        neighbors=NOBODY,
    )


def _nxos_heard(data: dict[str, Any]) -> Iterator[tuple[str, Neighbor]]:
    for row in _rows(data, "nbor_detail"):
        system, port, text = (str(row.get(k, "")) for k in ("sys_name", "port_id", "port_desc"))
        yield (
            str(row.get("l_port_id", "")),
            Neighbor("" if system == "null" else system, port, text),
        )


def _rows(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = data[f"TABLE_{name}"][f"ROW_{name}"]
    return rows if isinstance(rows, list) else [rows]


def _heard(text: Observed[str], read: Any, source: str) -> Observed[list[tuple[str, Neighbor]]]:
    if not isinstance(text, Known):
        return text
    try:
        return Known(list(read(read_json(text.value))), source)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return Unreadable("what it says of its neighbours makes no sense", source)
