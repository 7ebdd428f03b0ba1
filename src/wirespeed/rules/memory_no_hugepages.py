"""No hugepage at all on a host that is to run DPDK."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.kernel_boot import boot_remedy
from wirespeed.facts.memory import LARGE_BYTES, Memory, has_gigabyte_pages
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import write_file
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom

SMALL_BYTES = 2 << 20


def _check(exam: HostExam) -> Iterator[Finding]:
    memory = exam.host[Memory]
    pools = memory.pools_of(None)
    known(memory.default_page_bytes, "the sizes of hugepages")
    counts = [known(pool.total, f"hugepages of {pool.page_bytes >> 20} MB") for pool in pools]
    if any(counts):
        return
    nodes = exam.host[Cpus].nodes
    # A node without CPUs is memory of CXL or of a GPU.
    numbers = sorted(n for n, c in nodes.value.items() if c) if isinstance(nodes, Known) else []
    yield exam.finding(
        Severity.FAULT,
        tuple(
            Evidence(found=f"0 hugepages of {pool.page_bytes >> 20} MB", source=pool.total.source)
            for pool in pools
        ),
        so="a DPDK program does not start, or runs on the kernel's ordinary pages and misses the "
        "TLB far more often",
        remedies=(
            *(_now(memory, numbers) if any(p.page_bytes == SMALL_BYTES for p in pools) else ()),
            *_at_boot(exam, memory),
        ),
        bounds=(
            Bound.of_share(
                Limit.AT_MOST,
                1,
                "of what a DPDK program would forward: without --no-huge it does not start",
                "0 packets while it does not start",
            ),
        ),
    )


def _now(memory: Memory, nodes: list[int]) -> Iterator[Remedy]:
    wanted = {node: memory.pages_for_dpdk(SMALL_BYTES, node) for node in nodes}
    counts = {node: count for node, count in wanted.items() if count}
    if not counts:
        return
    yield Remedy(
        text="reserve 2 MB pages now, on every node with CPUs (they are lost at the next boot)",
        commands=tuple(
            write_file(
                f"/sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/nr_hugepages",
                str(count),
            )
            for node, count in counts.items()
        ),
        steps=tuple(
            StepCall.of("hugepages", page_kib=2048, numa_node=node, count=count)
            for node, count in counts.items()
        ),
    )


def _at_boot(exam: HostExam, memory: Memory) -> Iterator[Remedy]:
    """Pages of 1 GB where a quarter of the memory holds one for each node, else of 2 MB.

    A kernel that cannot have a size ignores `hugepagesz=`, and the `hugepages=` after it.
    """
    count, size = memory.pages_for_dpdk(LARGE_BYTES), "1G"
    large = has_gigabyte_pages(exam.host)
    if count < memory.nodes_with_memory or (isinstance(large, Known) and not large.value):
        count, size = memory.pages_for_dpdk(SMALL_BYTES), "2M"
    yield boot_remedy(
        exam.host[Kernel],
        f"reserve {'1 GB' if size == '1G' else '2 MB'} pages at boot, before memory is fragmented",
        "hugepages",
        f"default_hugepagesz={size} hugepagesz={size} hugepages={count}",
    )


RULE = HostRule(
    slug="memory.no_hugepages",
    title="No hugepages for DPDK",
    why="DPDK keeps its packet buffers in hugepages, so that a few TLB entries cover all of them "
    "and their physical addresses do not change. Without hugepages a program exits at start; "
    "with --no-huge it runs on 4 kB pages.",
    source="https://doc.dpdk.org/guides/linux_gsg/sys_reqs.html (Use of Hugepages in the Linux "
    "Environment)",
    purposes=frozenset({Purpose.DPDK}),
    price="at most: all that a DPDK program would forward, as it does not start",
    shows=(Symptom.NO_HUGEPAGES,),
    explains=(Symptom.SWITCH_WITHOUT_DPDK,),
    check=_check,
)
