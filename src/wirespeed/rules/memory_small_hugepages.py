"""DPDK on hugepages of 2 MB, on a CPU that has 1 GB ones."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.kernel_boot import boot_remedy
from wirespeed.facts.memory import LARGE_BYTES, Memory, has_gigabyte_pages
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule


def _check(exam: HostExam) -> Iterator[Finding]:
    memory = exam.host[Memory]
    known(memory.default_page_bytes, "the sizes of hugepages")
    pools = memory.pools_of(None)
    reserved = [pool for pool in pools if known(pool.total, "hugepages")]
    if not reserved:
        raise DoesNotApplyError("there are no hugepages at all: see memory.no_hugepages")
    large = has_gigabyte_pages(exam.host)
    if not known(large, "whether the CPU has 1 GB pages"):
        raise DoesNotApplyError("this CPU has no 1 GB pages")
    if any(pool.page_bytes >= LARGE_BYTES for pool in reserved):
        return
    if not memory.pages_for_dpdk(LARGE_BYTES):
        raise DoesNotApplyError("a quarter of the memory is less than one page of 1 GB")
    flag = "" if exam.host[Cpus].is_arm else " (pdpe1gb)"
    count = memory.pages_for_dpdk(LARGE_BYTES)
    yield exam.finding(
        Severity.NOTE,
        (
            *(
                Evidence(
                    found=f"{known(pool.total, 'hugepages')} hugepages of "
                    f"{pool.page_bytes >> 20} MB",
                    source=pool.total.source,
                )
                for pool in reserved
            ),
            Evidence(found=f"the CPU has 1 GB pages{flag}", source=large.source),
        ),
        so="buffers of a few gigabytes need hundreds of TLB entries; with 1 GB pages they need a "
        "few",
        remedies=(
            boot_remedy(
                exam.host[Kernel],
                "reserve 1 GB pages",
                "hugepages",
                f"default_hugepagesz=1G hugepagesz=1G hugepages={count}",
            ),
        ),
        unpriced="it costs TLB misses only, which depend on how many buffers are in use",
    )


RULE = HostRule(
    slug="memory.small_hugepages",
    title="2 MB hugepages used although 1 GB is supported",
    why="A page of 1 GB covers as much as 512 of 2 MB with one TLB entry. DPDK recommends 1 GB "
    "pages for 64-bit applications if the platform supports them; reserve them at boot, "
    "before memory is fragmented.",
    source="https://doc.dpdk.org/guides/linux_gsg/sys_reqs.html (Reserving Hugepages for DPDK Use)",
    purposes=frozenset({Purpose.DPDK}),
    check=_check,
)
