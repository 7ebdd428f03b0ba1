"""What a group's type means, which differs by the kernel's release. Pure.

Linux 4.19 brought `/sys/kernel/iommu_groups/*/type` and, with it, a kernel that bypasses the IOMMU
by how it was built (tag iommu-updates-v4.19). Before, the command line alone decided. Until 5.14
the type is `DMA` whether unmappings wait for the IOMMU or not; 5.15 calls the latter `DMA-FQ`
(commit bf3aed4660c6, "iommu: Introduce explicit type for non-strict DMA domains").
"""

from wirespeed.facts.kernel import CommandLine, Kernel, is_yes
from wirespeed.model.observed import Known, Observed, Unreadable

TYPES = ("DMA", "DMA-FQ", "identity", "blocked", "auto")
TYPE_IS_SHOWN, LAZY_IS_SHOWN = (4, 19), (5, 15)
LINE = "cat /proc/cmdline"


def bypasses(line: CommandLine, *, is_arm: bool) -> bool:
    """Whether the line lets the host's own devices bypass the IOMMU."""
    has_pt = "pt" in (line.last("iommu") or "").split(",")
    return (has_pt and not is_arm) or is_yes(line.last("iommu.passthrough") or "")


def domain_of(said: str, file: str, kernel: Kernel, *, is_arm: bool) -> Observed[str]:
    """Give `DMA`, `DMA-FQ`, … from what the file of the group says; empty: there is no such file.

    `DMA`: translated, and each unmapping waits for the IOMMU. `DMA-FQ`: it does not wait.
    """
    version, line = kernel.version(), kernel.command_line
    if said and said not in TYPES:
        return Unreadable(f"{said[:20]!r} is not a type", f"cat {file}")
    if not said:
        if not isinstance(line, Known):
            return Unreadable("its type and the command line were not read", LINE)
        if bypasses(line.value, is_arm=is_arm):
            return Known("identity", LINE)
        if not isinstance(version, Known) or version.value >= TYPE_IS_SHOWN:
            return Unreadable("its type was not read", f"cat {file}")
        return Known("DMA" if _is_strict(line.value, is_arm=is_arm) else "DMA-FQ", LINE)
    source = f"cat {file}"
    if said != "DMA" or not isinstance(version, Known) or version.value >= LAZY_IS_SHOWN:
        return Known(said, source)
    if not isinstance(line, Known):
        return Unreadable("kernels before 5.15 call both kinds DMA", LINE)
    return Known("DMA" if _is_strict(line.value, is_arm=is_arm) else "DMA-FQ", source)


def _is_strict(line: CommandLine, *, is_arm: bool) -> bool:
    """Before 5.15, where Arm waits unless told otherwise, and x86 does not unless told to."""
    if is_arm:
        return line.last("iommu.strict") is None or is_yes(line.last("iommu.strict") or "")
    intel = any("strict" in value.split(",") for value in line.values("intel_iommu"))
    amd = any("fullflush" in value.split(",") for value in line.values("amd_iommu"))
    return intel or amd
