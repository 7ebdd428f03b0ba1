"""A port of a kernel driver whose every DMA address goes through the IOMMU's tables."""

from collections.abc import Iterator

from wirespeed.facts.iommu import PASSTHROUGH, Iommu, passthrough_parameter
from wirespeed.facts.kernel import CommandLine, Kernel
from wirespeed.facts.kernel_boot import boot_remedy
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import Absent, Known, Unreadable, known
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
    domain = known(group, "the port's IOMMU group").domain
    evidence = []
    if isinstance(domain, Unreadable):
        # The kernel's default is a matter of how it was built, unless the command line says.
        line = exam.host[Kernel].command_line
        parameter = passthrough_parameter(exam.host)
        if not (isinstance(line, Known) and _is_passthrough(line.value, parameter)):
            known(domain, "how the IOMMU treats this port")
        return
    kind = known(domain, "how the IOMMU treats this port")
    if kind not in ("DMA", "DMA-FQ"):
        return
    evidence.append(Evidence(found=f"domain {kind}", source=domain.source))
    yield exam.finding(
        _severity(kind, exam.question.purpose),
        tuple(evidence),
        so="the driver maps and unmaps every buffer, and each access of the card is translated"
        + (", and each unmapping waits for the IOMMU" if kind == "DMA" else ""),
        remedies=(
            boot_remedy(
                exam.host[Kernel],
                "let the host's own devices bypass the IOMMU (they can then access all of the "
                "host's memory; guests' devices stay confined)",
                "iommu",
                passthrough_parameter(exam.host),
            ),
        ),
        unpriced="the cost depends on how often buffers are mapped: measure before and after",
    )


def _is_passthrough(line: CommandLine, parameter: str) -> bool:
    has_pt = parameter == PASSTHROUGH and "pt" in (line.last("iommu") or "").split(",")
    return has_pt or line.last("iommu.passthrough") == "1"


def _severity(domain: str, purpose: Purpose | None) -> Severity:
    if purpose is Purpose.DPDK or (domain == "DMA" and purpose not in (None, Purpose.GUESTS)):
        return Severity.RISK
    return Severity.NOTE


RULE = PortRule(
    slug="iommu.translated",
    title="Host DMA is translated by the IOMMU",
    why="In a translated domain the driver maps and unmaps every buffer, and the card's DMA "
    "waits for the IOMMU's tables whenever its cache misses. This shows with small frames at "
    "high load. iommu=pt (on Arm iommu.passthrough=1) keeps translation for guests' "
    "devices and bypasses it for the host's own.",
    source="https://docs.kernel.org/admin-guide/kernel-parameters.html (iommu=, "
    "iommu.passthrough=, iommu.strict=); https://docs.kernel.org/admin-guide/abi-testing.html "
    "(/sys/kernel/iommu_groups/<grp_id>/type); Neugebauer et al., SIGCOMM 2018 (IOMMU)",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
