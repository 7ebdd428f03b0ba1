"""From objects of the vSphere API to plain data, and from settings to what a guest is told."""

from collections.abc import Mapping
from typing import Any

from wirespeed.model.vsphere import (
    AFFINITY,
    CPU_RESERVATION,
    LATENCY,
    LOCKED,
    MEMORY,
    NUMA_NODE,
    RESERVATION,
)

DEVICES = ("VirtualPCIPassthrough", "VirtualSriovEthernetCard")
OF_VGPU = "VmiopBackingInfo"


def host_values(about: Any, host: Any) -> dict[str, Any]:
    """Give version, uplinks, CPUs, NUMA nodes and functions that can be handed to guests."""
    config, hardware = host.config, host.hardware
    pnics = config.network.pnic if config and config.network else []
    numa = hardware.numaInfo if hardware else None
    return {
        "version": about.version,
        "pnic": [_pnic(pnic) for pnic in pnics],
        "cpu": {
            "cores": hardware.cpuInfo.numCpuCores if hardware else None,
            "threads": hardware.cpuInfo.numCpuThreads if hardware else None,
            "numaNodes": numa.numNodes if numa else None,
        },
        "pciPassthru": [
            {
                "id": function.id,
                "capable": bool(function.passthruCapable),
                "enabled": bool(function.passthruEnabled),
                "vfs": getattr(function, "numVirtualFunction", None),
            }
            for function in (config.pciPassthruInfo if config else None) or []
        ],
    }


def _pnic(pnic: Any) -> dict[str, Any]:
    return {
        "device": pnic.device,
        "pci": pnic.pci,
        "driver": pnic.driver,
        # Not there: the link is down.
        "speedMb": pnic.linkSpeed.speedMb if pnic.linkSpeed else 0,
        "validMb": sorted({int(one.speedMb) for one in pnic.validLinkSpecification or []}),
    }


def guest_values(machine: Any) -> dict[str, Any]:
    """Give the settings of a guest, by the names of `model.vsphere`; no name, no address of it."""
    config = machine.config
    if config is None:
        return {}
    affinity = config.cpuAffinity.affinitySet if config.cpuAffinity else []
    latency = config.latencySensitivity
    extra = {str(option.key).lower(): str(option.value) for option in config.extraConfig or []}
    return {
        MEMORY: config.hardware.memoryMB,
        RESERVATION: config.memoryAllocation.reservation if config.memoryAllocation else None,
        LOCKED: bool(config.memoryReservationLockedToMax),
        CPU_RESERVATION: config.cpuAllocation.reservation if config.cpuAllocation else None,
        AFFINITY: ",".join(map(str, sorted(affinity))),
        LATENCY: str(latency.level) if latency else None,
        NUMA_NODE: extra.get("numa.nodeaffinity", ""),
        "hardware.numCPU": config.hardware.numCPU,
        "devices": sum(map(_is_handed_over, config.hardware.device)),
        "powerState": str(machine.runtime.powerState),
    }


def _is_handed_over(device: Any) -> bool:
    """Whether a device is a function of PCI: a share of a GPU (vGPU) is of the same class."""
    name, backing = type(device).__name__, type(getattr(device, "backing", None)).__name__
    return name.rpartition(".")[2] in DEVICES and not backing.endswith(OF_VGPU)


def reconfiguration(vim: Any, values: Mapping[str, str]) -> Any:
    """Make the ConfigSpec that sets `values`; what is not named stays."""
    spec = vim.vm.ConfigSpec()
    if RESERVATION in values:
        spec.memoryAllocation = vim.ResourceAllocationInfo(reservation=int(values[RESERVATION]))
    if LOCKED in values:
        spec.memoryReservationLockedToMax = values[LOCKED] == "true"
    if CPU_RESERVATION in values:
        spec.cpuAllocation = vim.ResourceAllocationInfo(reservation=int(values[CPU_RESERVATION]))
    if AFFINITY in values:
        cpus = [int(word) for word in values[AFFINITY].split(",") if word]
        # An empty set is how the API clears it.
        spec.cpuAffinity = vim.vm.AffinityInfo(affinitySet=cpus)
    if LATENCY in values:
        spec.latencySensitivity = vim.LatencySensitivity(level=values[LATENCY])
    if NUMA_NODE in values:
        # So is an empty value, which removes the key.
        option = vim.option.OptionValue(key="numa.nodeAffinity", value=values[NUMA_NODE])
        spec.extraConfig = [option]
    return spec
