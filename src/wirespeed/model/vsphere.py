"""Settings of a guest by the names that the vSphere API has for them, and how they are written."""

import re

NUMBER = r"^[A-Za-z0-9-]{1,40}$"
"""Of a guest: as `vim-cmd vmsvc/getallvms` and the API of an ESXi host have it."""
RECONFIGURE = "ReconfigVM_Task"
READ = "RetrieveProperties"

RESERVATION = "memoryAllocation.reservation"
"""MB."""
LOCKED = "memoryReservationLockedToMax"
CPU_RESERVATION = "cpuAllocation.reservation"
"""MHz."""
AFFINITY = "cpuAffinity.affinitySet"
"""Logical CPUs: `25,26`; empty: all."""
LATENCY = "latencySensitivity.level"
NUMA_NODE = "extraConfig.numa.nodeAffinity"
"""Empty: the host chooses."""
MEMORY = "hardware.memoryMB"
SETTINGS = (RESERVATION, LOCKED, CPU_RESERVATION, AFFINITY, LATENCY, NUMA_NODE)
LATENCY_LEVELS = ("low", "normal", "medium", "high")
ASSIGNMENT = re.compile(r"([A-Za-z.]{1,60})=([A-Za-z0-9,-]{0,2000})")


def assignments(words: tuple[str, ...]) -> dict[str, str]:
    """Read `NAME=VALUE` words. Raises ValueError for what is no setting."""
    found: dict[str, str] = {}
    for word in words:
        match = ASSIGNMENT.fullmatch(word)
        if match is None or match[1] not in SETTINGS:
            raise ValueError(f"{word!r} is not a setting of a guest")
        found[match[1]] = match[2]
    return found
