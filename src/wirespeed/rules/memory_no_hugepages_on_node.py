"""Hugepages are reserved, and none of them on the card's own NUMA node."""

from collections.abc import Iterator

from wirespeed.facts.memory import Memory
from wirespeed.facts.pci import Pci
from wirespeed.model.command import write_file
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    memory = exam.host[Memory]
    function = exam.host[Pci].functions.get(exam.port.pci_address or "")
    if function is None:
        raise DoesNotApplyError("this port has no PCI function, and so no NUMA node")
    node = known(function.numa_node, f"the NUMA node of {exam.port.name}")
    if node < 0 or len(memory.node_bytes) < 2:
        raise DoesNotApplyError("this host has one NUMA node")
    reserved = [pool for pool in memory.pools if known(pool.total, "hugepages")]
    if not reserved:
        raise DoesNotApplyError("there are no hugepages on any node: see memory.no_hugepages")
    if any(pool.numa_node == node for pool in reserved):
        return
    away = [pool for pool in reserved if pool.numa_node is not None]
    here = [pool for pool in memory.pools_of(node) if pool.page_bytes == 2 << 20]
    yield exam.finding(
        Severity.FAULT,
        (
            Evidence(found=f"the card is on node {node}", source=function.numa_node.source),
            *(
                Evidence(found="0 hugepages on that node", source=pool.total.source)
                for pool in memory.pools_of(node)[:1]
            ),
            *(
                Evidence(
                    found=f"{known(pool.total, 'hugepages')} of {pool.page_bytes >> 20} MB on node "
                    f"{pool.numa_node}",
                    source=pool.total.source,
                )
                for pool in away
            ),
        ),
        so="every frame's buffer is on another node, so each frame crosses the link between the "
        "sockets",
        remedies=tuple(
            Remedy(
                text=f"reserve pages on node {node}, then start the program with memory there",
                commands=(write_file(pool.total.source.removeprefix("cat "), str(count)),),
                steps=(StepCall.of("hugepages", page_kib=2048, numa_node=node, count=count),),
            )
            for pool in here
            if (count := memory.pages_for_dpdk(pool.page_bytes, node))
        ),
        unpriced="the cost depends on the link between the sockets: measure with memory on "
        "either node",
    )


RULE = PortRule(
    slug="memory.no_hugepages_on_node",
    title="No hugepages on the card's NUMA node",
    why="DPDK allocates a port's buffers on the port's own node if it finds hugepages there. "
    "Elsewhere, the card's DMA and the cores' reads cross the link between the sockets, which is "
    "slower and shared with everything else.",
    source="https://doc.dpdk.org/guides/linux_gsg/nic_perf_intel_platform.html; "
    "https://docs.kernel.org/admin-guide/mm/hugetlbpage.html",
    purposes=frozenset({Purpose.DPDK}),
    explains=(Symptom.SWITCH_WITHOUT_DPDK,),
    check=_check,
)
