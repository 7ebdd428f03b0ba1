"""An ESXi host in an answer: its line at the head, and the ceilings of its uplinks."""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.model.ceiling import Direction, Ledger
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.model.question import Question
from wirespeed.platforms.esxi.facts.esxi_hardware import EsxiHardware
from wirespeed.platforms.esxi.facts.esxi_ports import SOURCE, EsxiPort, EsxiPorts
from wirespeed.platforms.esxi.facts.esxi_uplinks import EsxiUplinks
from wirespeed.platforms.esxi.facts.vsphere import is_esxi

MEGA = 1_000_000
MAX_UPLINKS = 16


MAX_LINK_MB = 10**8
"""No link is that fast: who says so is damaged."""


def esxi_ledgers(host: HostFacts, question: Question) -> Iterator[Ledger]:
    """Give what the wire of each uplink that is up carries; its slot is not read on ESXi."""
    ports = host[EsxiPorts].ports if is_esxi(host.capture) else None
    if not isinstance(ports, Known):
        return
    for port in ports.value.values():
        if isinstance(port.link_mb, Known) and 0 < port.link_mb.value < MAX_LINK_MB:
            yield Ledger(
                port=port.name,
                frame_bytes=question.frame_bytes,
                ceilings=tuple(
                    ethernet_ceiling(
                        port.link_mb.value * MEGA, question.frame_bytes, direction, SOURCE
                    )
                    for direction in Direction
                ),
                unknown=("pcie: not read on ESXi",),
                bidirectional=question.bidirectional,
            )


def esxi_lines(host: HostFacts, _question: Question) -> Iterator[tuple[str, str]]:
    """Give the line of the host; none where it is not ESXi."""
    if is_esxi(host.capture):
        try:
            yield "ESXi", _line(host)
        except CannotTellError:
            yield "ESXi", "cannot tell"


def _line(host: HostFacts) -> str:
    """Say which release it is, what it has, and what drives its uplinks."""
    fact, hardware = host[EsxiPorts], host[EsxiHardware]
    parts = [fact.version.value if isinstance(fact.version, Known) else "cannot tell"]
    for count, what in (
        (hardware.cores, "core"),
        (hardware.threads, "CPU"),
        (hardware.numa_nodes, "NUMA node"),
    ):
        if isinstance(count, Known):
            parts.append(f"{count.value} {what}{'s' if count.value != 1 else ''}")
    ports = list(fact.ports.value.values()) if isinstance(fact.ports, Known) else []
    uplinks = [_uplink(port, host[EsxiUplinks]) for port in ports[:MAX_UPLINKS]]
    return "; ".join((", ".join(parts), *uplinks))


def _uplink(port: EsxiPort, more: EsxiUplinks) -> str:
    uplink = more.uplinks.get(port.name)
    said = [port.driver.value if isinstance(port.driver, Known) else "driver not known"]
    if uplink is not None and isinstance(uplink.driver_version, Known):
        said[0] += f" {uplink.driver_version.value}"
    if uplink is not None and isinstance(uplink.firmware, Known):
        said.append(f"firmware {uplink.firmware.value}")
    said.append(port.link.value if isinstance(port.link, Known) else "link not known")
    return f"{port.name} ({', '.join(said)})"
