"""A host without an IOMMU in use, whose ports or VFs are to be passed to guests."""

from collections.abc import Iterator

from wirespeed.ceilings.bounds import SOFTWARE_SWITCH_FORMULA, software_switch_bounds
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.iommu import Iommu, passthrough_parameter
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.kernel_boot import boot_remedy
from wirespeed.facts.link import best_bps
from wirespeed.facts.software_guests import guests_on_a_switch
from wirespeed.facts.sriov import Sriov, Vf, physical_function
from wirespeed.facts.virtualization import Virtualization
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known, value_or_none
from wirespeed.model.port import Port
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

DRIVEN = "ls -l /sys/bus/pci/devices/*/virtfn*/driver"
GUESTS_DRIVERS = ("vfio-pci", "pci-stub", "xen-pciback")
"""Of devices that are kept for a virtual machine."""


def _check(exam: HostExam) -> Iterator[Finding]:
    if not any(_can_lend(exam, port) for port in exam.ports):
        raise DoesNotApplyError("no port of this host has SR-IOV")
    if known(exam.host[Virtualization].is_guest, "whether this host is a guest"):
        raise DoesNotApplyError("this host is a guest itself")
    iommu, kernel, flags = exam.host[Iommu], exam.host[Kernel], exam.host[Cpus].flags
    if known(iommu.groups, "the IOMMU's groups"):
        return
    is_intel = isinstance(flags, Known) and "vmx" in flags.value
    parameter = passthrough_parameter(exam.host)
    netdevs = _vfs_as_netdevs(exam)
    guests = guests_on_a_switch(exam.host)
    yield exam.finding(
        Severity.NOTE if netdevs or guests else Severity.FAULT,
        (
            Evidence(found="no IOMMU group", source="ls /sys/kernel/iommu_groups"),
            Evidence(found="no IOMMU in use", source="ls /sys/class/iommu"),
            *(
                Evidence(
                    found=f"{len(netdevs)} VFs have the host's driver, and their netdev in "
                    "another namespace",
                    source=DRIVEN,
                )
                for _ in netdevs[:1]
            ),
            *guests,
        ),
        so="VFs passed to containers as netdevs need no IOMMU, but no VF can be passed to a "
        "virtual machine: vfio-pci accepts no device"
        if netdevs
        else "vfio-pci accepts no device: no VF can be passed to a guest"
        + ("; those that run use a virtual switch, which needs no IOMMU" if guests else ""),
        remedies=(
            Remedy(
                text="enable VT-d (Intel), AMD-Vi or IOMMU (AMD), SMMU (Arm) in the BIOS",
                by_hand=ByHand.BIOS,
            ),
            boot_remedy(
                kernel,
                "enable it in the kernel, for guests' devices only",
                "iommu",
                f"intel_iommu=on {parameter}" if is_intel else parameter,
            ),
        ),
        bounds=software_switch_bounds(best_bps(exam.host, exam.ports), exam.question.frame_bytes),
        unpriced="without an IOMMU there is no SR-IOV path into a guest to measure",
    )


def _vfs_as_netdevs(exam: HostExam) -> tuple[Vf, ...]:
    """VFs that the host's driver runs, and whose netdev is in a container's network namespace.

    None where a VF is kept for a virtual machine. VFs whose netdevs are the host's tell nothing.
    """
    vfs = [vf for pf in exam.host[Sriov].pfs.values() for vf in pf.vfs]
    driven = [vf for vf in vfs if isinstance(vf.driver, Known)]
    if any(isinstance(vf.driver, Known) and vf.driver.value in GUESTS_DRIVERS for vf in driven):
        return ()
    return tuple(vf for vf in driven if isinstance(vf.netdev, Absent))


def _can_lend(exam: HostExam, port: Port) -> bool:
    """Whether it has SR-IOV, if only once firmware lets it, as of Mellanox' cards."""
    try:
        pf = physical_function(exam.host, port)
    except DoesNotApplyError:
        return False
    return pf.is_mellanox or bool(value_or_none(pf.total_vfs))


RULE = HostRule(
    slug="iommu.off_for_guests",
    title="IOMMU off: VFs cannot be passed to guests",
    why="A guest programs its VF with guest addresses: only an IOMMU can translate them to the "
    "host's and keep the VF out of other memory. VFIO refuses a device that is in no IOMMU "
    "group.",
    source="https://docs.kernel.org/driver-api/vfio.html; "
    "https://docs.kernel.org/admin-guide/kernel-parameters.html (intel_iommu=, amd_iommu=)",
    purposes=frozenset({Purpose.GUESTS}),
    price=SOFTWARE_SWITCH_FORMULA,
    shows=(Symptom.IOMMU_OFF,),
    check=_check,
)
