"""A card on a NUMA node that is not known, or that has no CPU, in a host of several."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.pci import Pci
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

NO_NODE = -1
UNPRICED = "the cost depends on the distance to the CPUs that serve the card, which was not read"


def _check(exam: PortExam) -> Iterator[Finding]:
    address = exam.port.pci_address
    if address is None:
        raise DoesNotApplyError("the port is not a PCI device")
    cpus = exam.host[Cpus]
    nodes = {} if isinstance(cpus.nodes, Absent) else known(cpus.nodes, "NUMA nodes")
    if len(nodes) < 2:
        raise DoesNotApplyError("the host has one NUMA node")
    function = exam.host[Pci].functions.get(address)
    source = f"cat /sys/bus/pci/devices/{address}/numa_node"
    if function is None:
        raise CannotTellError(f"NUMA node of {address}: it was not read", source)
    node = known(function.numa_node, f"NUMA node of {address}")
    if nodes.get(node):
        return
    count = Evidence(found=f"the host has {len(nodes)} nodes", source="lscpu | grep -i numa")
    if node == NO_NODE:
        yield exam.finding(
            Severity.NOTE,
            (Evidence(found="the firmware gives the card no NUMA node", source=source), count),
            so="the kernel does not know which CPUs are near the card, so no tool can place its "
            "interrupts and workload automatically",
            remedies=(
                Remedy(
                    text="find in the board's manual which processor the slot is wired to; a newer "
                    "BIOS may tell the kernel (ACPI _PXM)",
                    by_hand=ByHand.BIOS,
                ),
            ),
            unpriced=UNPRICED,
        )
        return
    found = f"the card is on NUMA node {node}, which has no CPU"
    yield exam.finding(
        Severity.NOTE,
        (Evidence(found=found, source=source), count),
        so="CPUs of another node serve the card, and tools that look for CPUs of its own node find "
        "none",
        remedies=(
            Remedy(
                text="if the node has CPUs that are offline, bring them online; else place "
                "interrupts and workload on the nearest node with CPUs",
                commands=(
                    Command(argv=("grep", ".", f"/sys/devices/system/node/node{node}/distance")),
                ),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced=UNPRICED,
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
