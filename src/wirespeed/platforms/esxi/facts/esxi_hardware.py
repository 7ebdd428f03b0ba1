"""CPUs, NUMA nodes and PCI functions of an ESXi host that can be handed to guests."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.json_text import JsonObject, field, object_in, objects_in
from wirespeed.model.capture import Capture
from wirespeed.model.fact import EsxiFact
from wirespeed.model.observed import Known, Observed, read_as
from wirespeed.platforms.esxi.facts.esxi_uplinks import needed, table
from wirespeed.platforms.esxi.facts.vsphere import API, by_vsphere

CPU = "esxcli hardware cpu global get"
MEMORY = "esxcli hardware memory get"
PASSTHROUGH = "esxcli hardware pci pcipassthru list"
API_CPU = f"{API} HostSystem hardware"
API_PASSTHROUGH = f"{API} HostSystem config.pciPassthruInfo"
_ROW = re.compile(r"^([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) +(true|false)\b", re.M)


@dataclass(frozen=True, slots=True)
class EsxiHardware(EsxiFact):
    """Of the host as a whole."""

    cores: Observed[int]
    threads: Observed[int]
    """Logical CPUs: what a guest's affinity names."""
    numa_nodes: Observed[int]
    passthrough: Observed[dict[str, bool]]
    """PCI address: whether it is handed over. ESXi has the list from 7 on."""

    esxi: ClassVar[str] = f"""\
run esxi-cpu - {CPU}
run esxi-memory - {MEMORY}
run esxi-passthrough - {PASSTHROUGH}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read all three."""
        if (said := by_vsphere(capture)) is not None:
            return cls._by_vsphere(said)
        cpu = read_as(capture.text("esxi-cpu", CPU), table)
        memory = read_as(capture.text("esxi-memory", MEMORY), table)
        return cls(
            read_as(cpu, lambda all_: int(needed(all_, "CPU Cores"))),
            read_as(cpu, lambda all_: int(needed(all_, "CPU Threads"))),
            read_as(memory, lambda all_: int(needed(all_, "NUMA Node Count"))),
            read_as(capture.text("esxi-passthrough", PASSTHROUGH), _rows),
        )

    @classmethod
    def _by_vsphere(cls, said: Observed[JsonObject]) -> Self:
        if not isinstance(said, Known):
            return cls(said, said, said, said)
        cpu = object_in(said.value, "cpu")
        rows = objects_in(said.value, "pciPassthru")
        return cls(
            field(cpu, "cores", int, API_CPU),
            field(cpu, "threads", int, API_CPU),
            field(cpu, "numaNodes", int, API_CPU),
            Known(
                {str(r["id"]): r.get("enabled") is True for r in rows if "id" in r}, API_PASSTHROUGH
            ),
        )


def _rows(text: str) -> dict[str, bool]:
    return {match[1]: match[2] == "true" for match in _ROW.finditer(text.lower())}
