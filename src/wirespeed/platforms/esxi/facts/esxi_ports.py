"""Ports of an ESXi host, and which ESXi it is.

Keys of `esxcli --formatter=json` are the columns of its tables without their spaces.
"""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.json_text import JsonObject, field, json_of, objects_in, objects_of
from wirespeed.model.capture import Capture
from wirespeed.model.fact import EsxiFact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.platforms.esxi.facts.vsphere import API, by_vsphere

SOURCE = "esxcli network nic list"
VERSION_SOURCE = "esxcli system version get"
PNIC = f"{API} HostSystem config.network.pnic"
ABOUT = f"{API} ServiceInstance content.about"


@dataclass(frozen=True, slots=True)
class EsxiPort:
    """One uplink."""

    name: str
    """`vmnic4`."""
    pci_address: Observed[str]
    driver: Observed[str]
    admin: Observed[str]
    """`Up` or `Down`: whether it is set up."""
    link: Observed[str]
    """`Up` or `Down`."""
    link_mb: Observed[int]
    """Mb/s; 0 where it is down."""
    mtu: Observed[int]
    valid_mb: Observed[tuple[int, ...]]
    """Speeds that it can have, in Mb/s, ascending. Of the API; esxcli says them of one uplink."""


@dataclass(frozen=True, slots=True)
class EsxiPorts(EsxiFact):
    """All uplinks, by name."""

    version: Observed[str]
    """`6.5.0`."""
    ports: Observed[dict[str, EsxiPort]]

    esxi: ClassVar[str] = """\
run esxi-version - esxcli --formatter=json system version get
run esxi-ports - esxcli --formatter=json network nic list
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read both lists."""
        if (said := by_vsphere(capture)) is not None:
            return cls._by_vsphere(said)
        rows = objects_of(capture.text("esxi-ports", SOURCE))
        if isinstance(rows, Known):
            ports = (_port(row) for row in rows.value)
            return cls(_version(capture), Known({p.name: p for p in ports if p.name}, SOURCE))
        return cls(_version(capture), rows)

    @classmethod
    def _by_vsphere(cls, said: Observed[JsonObject]) -> Self:
        if not isinstance(said, Known):
            return cls(said, said)
        ports = (_pnic(row) for row in objects_in(said.value, "pnic"))
        return cls(
            field(said.value, "version", str, ABOUT),
            Known({p.name: p for p in ports if p.name}, PNIC),
        )


def _pnic(row: JsonObject) -> EsxiPort:
    name, link_mb = row.get("device"), field(row, "speedMb", int, PNIC)
    return EsxiPort(
        name=name if isinstance(name, str) else "",
        pci_address=field(row, "pci", str, PNIC),
        driver=field(row, "driver", str, PNIC),
        admin=Absent(PNIC, "the API does not say whether it is set up"),
        link=Known("Up" if link_mb.value else "Down", PNIC)
        if isinstance(link_mb, Known)
        else link_mb,
        link_mb=link_mb,
        mtu=Absent(PNIC, "the API has it of the virtual switch"),
        valid_mb=_valid(row),
    )


def _version(capture: Capture) -> Observed[str]:
    decoded = json_of(capture.text("esxi-version", VERSION_SOURCE))
    if not isinstance(decoded, Known):
        return decoded
    # One object, which some releases put into a list.
    one = decoded.value[0] if isinstance(decoded.value, list) and decoded.value else decoded.value
    if not isinstance(one, dict):
        return Unreadable("it is not an object", VERSION_SOURCE)
    return field(one, "Version", str, VERSION_SOURCE)


def _port(row: JsonObject) -> EsxiPort:
    name = row.get("Name")
    return EsxiPort(
        name=name if isinstance(name, str) else "",
        pci_address=field(row, "PCIDevice", str, SOURCE),
        driver=field(row, "Driver", str, SOURCE),
        admin=field(row, "AdminStatus", str, SOURCE),
        link=field(row, "LinkStatus", str, SOURCE),
        link_mb=field(row, "Speed", int, SOURCE),
        mtu=field(row, "MTU", int, SOURCE),
        valid_mb=Absent(SOURCE, "esxcli network nic get has them"),
    )


def _valid(row: JsonObject) -> Observed[tuple[int, ...]]:
    said = row.get("validMb")
    found = sorted({mb for mb in said if type(mb) is int and mb > 0} if type(said) is list else ())
    return Known(tuple(found), PNIC) if found else Absent(PNIC, "no validMb there")
