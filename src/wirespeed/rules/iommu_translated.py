"""A port of a kernel driver whose every DMA address goes through the IOMMU's tables."""

from collections.abc import Iterator

from wirespeed.facts.iommu import PASSTHROUGH, Iommu, passthrough_parameter
from wirespeed.facts.iommu_domain import LAZY_IS_SHOWN
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.kernel_boot import boot_remedy
from wirespeed.facts.virtualization import Virtualization
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

USERSPACE = ("vfio-pci", "uio_pci_generic", "igb_uio")
"""Of vfio-pci's devices the program or the guest says what is mapped, not the kernel's default."""


def _check(exam: PortExam) -> Iterator[Finding]:
    iommu = exam.host[Iommu]
    if exam.port.driver in USERSPACE:
        raise DoesNotApplyError(f"{exam.port.driver} sets the IOMMU mapping of its devices itself")
    group = iommu.by_function.get(
        exam.port.pci_address or "", Absent("ls /sys/kernel/iommu_groups", "it has no PCI function")
    )
    if isinstance(group, Absent):
        known(iommu.groups, "the IOMMU's groups")
        raise DoesNotApplyError(f"no IOMMU translates for this port: {group.reason}")
    found = known(group, "the port's IOMMU group")
    kind = known(found.domain, "how the IOMMU treats this port")
    if kind not in ("DMA", "DMA-FQ") or not isinstance(found.domain, Known):
        return
    is_strict = kind == "DMA"
    # A hypervisor that emulates an IOMMU makes its guest wait, whatever the guest is told
    # (caching mode: "IOMMU batching disallowed due to virtualization").
    is_guest = exam.host[Virtualization].is_guest
    is_own = is_strict and not (isinstance(is_guest, Known) and is_guest.value)
    shown = f"domain {found.said}" if found.said else "nothing there bypasses the IOMMU"
    yield exam.finding(
        _severity(exam.question.purpose, is_strict=is_strict, is_own=is_own),
        (Evidence.of(found.domain, shown),),
        so="the driver maps and unmaps every buffer, and each access of the card is translated"
        + (", and each unmapping waits for the IOMMU" if is_strict else ""),
        remedies=tuple(_remedies(exam, is_own=is_own)),
        unpriced="the cost depends on how often buffers are mapped: measure before and after",
    )


def _remedies(exam: PortExam, *, is_own: bool) -> Iterator[Remedy]:
    kernel = exam.host[Kernel]
    parameter = passthrough_parameter(exam.host)
    yield boot_remedy(
        kernel,
        "let the host's own devices bypass the IOMMU (they can then access all of the host's "
        "memory; guests' devices stay confined)",
        "iommu",
        parameter,
    )
    if not is_own:
        return
    version = kernel.version()
    if parameter != PASSTHROUGH or (isinstance(version, Known) and version.value >= LAZY_IS_SHOWN):
        yield boot_remedy(
            kernel,
            "let unmappings not wait, and keep the translation (for some milliseconds the card can "
            "still access a buffer that it was lent)",
            "iommu-lazy",
            "iommu.strict=0",
        )
    else:
        yield Remedy(
            text="or take `intel_iommu=strict` or `amd_iommu=fullflush` from the kernel's command "
            "line: without it, no unmapping waits",
            by_hand=ByHand.FIND_FIRST,
        )


def _severity(purpose: Purpose | None, *, is_strict: bool, is_own: bool) -> Severity:
    if purpose is Purpose.DPDK or (is_own and purpose is None):
        return Severity.RISK
    costs = is_strict and purpose not in (None, Purpose.GUESTS)
    return Severity.RISK if costs else Severity.NOTE


RULE = PortRule(
    slug="iommu.translated",
    title="Host DMA is translated by the IOMMU",
    why="In a translated domain the driver maps and unmaps every buffer, and the card's DMA "
    "waits for the IOMMU's tables whenever its cache misses. This shows with small frames at "
    "high load. iommu=pt (on Arm iommu.passthrough=1) keeps translation for guests' "
    "devices and bypasses it for the host's own.",
    source="https://docs.kernel.org/admin-guide/kernel-parameters.html (iommu=, "
    "iommu.passthrough=, iommu.strict=); https://docs.kernel.org/admin-guide/abi-testing.html "
    "(/sys/kernel/iommu_groups/<grp_id>/type); the kernel's tag iommu-updates-v4.19 and commit "
    "bf3aed4660c6 (DMA-FQ); Neugebauer et al., SIGCOMM 2018 (IOMMU)",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
