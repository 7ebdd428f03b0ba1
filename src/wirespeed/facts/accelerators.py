"""GPUs and other accelerators, and the way up from each to its root port."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.pci import PCI_ADDRESS, ROOT_BUS
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed, read_as

NODE = re.compile(r"(\S+) node=(-?\d{1,4})", re.A)


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One function of class 3D controller, display other than VGA, or processing accelerator."""

    address: str
    hops: tuple[str, ...]
    """Its own address first, its root port last."""
    numa_node: int | None
    """None: the firmware gives none."""


@dataclass(frozen=True, slots=True)
class Accelerators(Fact):
    """All of them; a VGA console is none of these."""

    found: Observed[tuple[Accelerator, ...]]

    # PCI Code and ID Assignment: 0x0302 3D (NVIDIA), 0x0380 other display (AMD), 0x12 accelerators.
    script: ClassVar[str] = """\
list_accelerators() (
	set +f
	for path in /sys/bus/pci/devices/*; do
		{ read -r class <"$path/class"; } 2>/dev/null || continue
		case $class in 0x0302* | 0x0380* | 0x12*) ;; *) continue ;; esac
		node=-1
		{ read -r node <"$path/numa_node"; } 2>/dev/null
		real_path "$path" && printf '%s node=%s\\n' "$real" "$node"
	done
)
show accelerators - list_accelerators
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read one path a line."""
        return cls(read_as(capture.text("accelerators", "lspci -Dtv"), _accelerators))


def _accelerators(text: str) -> tuple[Accelerator, ...]:
    found = []
    for match in map(NODE.fullmatch, text.splitlines()):
        parts = ROOT_BUS.split(match[1])[-1].split("/") if match else []
        way = tuple(p for p in reversed(parts) if PCI_ADDRESS.fullmatch(p))
        if match and way:
            node = int(match[2])
            found.append(Accelerator(way[0], way, node if node >= 0 else None))
    return tuple(found)
