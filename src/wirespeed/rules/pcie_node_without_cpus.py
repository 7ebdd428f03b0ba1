"""A card on a NUMA node that is not known, or that has no CPU, in a host of several."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.pci import Pci
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

NO_NODE = -1


def _check(exam: PortExam) -> Iterator[Finding]:
    address = exam.port.pci_address
    if address is None:
        raise DoesNotApplyError("the port is not a PCI device")
    cpus = exam.host[Cpus]
    if isinstance(cpus.nodes, Absent):
        raise DoesNotApplyError("the host has one NUMA node")
    nodes = known(cpus.nodes, "NUMA nodes")
    if len(nodes) < 2:
        raise DoesNotApplyError("the host has one NUMA node")
    function = exam.host[Pci].functions.get(address)
    source = f"cat /sys/bus/pci/devices/{address}/numa_node"
    if function is None:
        raise CannotTellError(f"NUMA node of {address}: it was not read", source)
    node = known(function.numa_node, f"NUMA node of {address}")
    if nodes.get(node):
        return
    found = "the firmware gives the card no NUMA node" if node == NO_NODE else (
        f"the card is on NUMA node {node}, which has no CPU"
    )  # fmt: skip
    yield exam.finding(
        Severity.NOTE,
        (
            Evidence(found=found, source=source),
            Evidence(found=f"the host has {len(nodes)} nodes", source="lscpu | grep -i numa"),
        ),
        so="the kernel does not know which CPUs are near the card, so no tool can place its "
        "interrupts and workload automatically",
        remedies=(
            Remedy(
                text="find in the board's manual which processor the slot is wired to; a newer "
                "BIOS may tell the kernel (ACPI _PXM)",
                by_hand=ByHand.BIOS,
            ),
        ),
        unpriced="the cost depends on the distance to the CPUs that serve the card, which is not "
        "known",
    )


RULE = PortRule(
    slug="pcie.node_without_cpus",
    title="NUMA node of the card unknown or without CPUs",
    why="Memory and cores of the card's own node are nearer. If the firmware does not name that "
    "node, drivers and irqbalance place queues anywhere. Memory-only nodes, such as CXL or "
    "GPU memory, have no CPU, and neither has the node of an empty socket.",
    source="https://docs.kernel.org/admin-guide/abi-testing.html (/sys/bus/pci/devices/.../"
    "numa_node: -1 where the firmware gives none, which is a firmware bug)",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
