"""Ports of an ESXi host, and which ESXi it is.

Keys of `esxcli --formatter=json` are the columns of its tables without their spaces.
"""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.json_text import JsonObject, field, json_of, objects_of
from wirespeed.model.capture import Capture
from wirespeed.model.fact import EsxiFact
from wirespeed.model.observed import Known, Observed, Unreadable

SOURCE = "esxcli network nic list"
VERSION_SOURCE = "esxcli system version get"


@dataclass(frozen=True, slots=True)
class EsxiPort:
    """One uplink."""

    name: str
    """`vmnic4`."""
    pci_address: Observed[str]
    driver: Observed[str]
    link: Observed[str]
    """`Up` or `Down`."""
    link_mb: Observed[int]
    """Mb/s; 0 where it is down."""
    mtu: Observed[int]


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
        rows = objects_of(capture.text("esxi-ports", SOURCE))
        if isinstance(rows, Known):
            ports = (_port(row) for row in rows.value)
            return cls(_version(capture), Known({p.name: p for p in ports if p.name}, SOURCE))
        return cls(_version(capture), rows)


def _version(capture: Capture) -> Observed[str]:
    decoded = json_of(capture.text("esxi-version", VERSION_SOURCE))
    if not isinstance(decoded, Known):
        return decoded
    # One object, which some releases put into a list.
    one = decoded.value[0] if isinstance(decoded.value, list) and decoded.value else decoded.value
    if not isinstance(one, dict):
        return Unreadable("it is no object", VERSION_SOURCE)
    return field(one, "Version", str, VERSION_SOURCE)


def _port(row: JsonObject) -> EsxiPort:
    name = row.get("Name")
    return EsxiPort(
        name=name if isinstance(name, str) else "",
        pci_address=field(row, "PCIDevice", str, SOURCE),
        driver=field(row, "Driver", str, SOURCE),
        link=field(row, "LinkStatus", str, SOURCE),
        link_mb=field(row, "Speed", int, SOURCE),
        mtu=field(row, "MTU", int, SOURCE),
    )
