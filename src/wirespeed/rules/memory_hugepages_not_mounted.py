"""Hugepages of a size that no hugetlbfs is mounted for."""

from collections.abc import Iterator

from wirespeed.facts.memory import Memory
from wirespeed.model.command import Command
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

GIB = 1 << 30


def _check(exam: HostExam) -> Iterator[Finding]:
    memory = exam.host[Memory]
    default = known(memory.default_page_bytes, "the default size of hugepages")
    reserved = {
        pool.page_bytes: pool.total
        for pool in memory.pools_of(None)
        if known(pool.total, "hugepages")
    }
    if not reserved:
        raise DoesNotApplyError("there are no hugepages at all: see memory.no_hugepages")
    mounts = known(memory.mounts, "where hugetlbfs is mounted")
    mounted = {mount.page_bytes or default for mount in mounts}
    for size in sorted(reserved.keys() - mounted):
        count = reserved[size]
        where = ", ".join(f"{m.path} ({_size(m.page_bytes or default)})" for m in mounts)
        folder = f"/dev/hugepages-{_size(size)}"
        yield exam.finding(
            Severity.NOTE if reserved.keys() & mounted else Severity.FAULT,
            (
                Evidence(
                    found=f"{known(count, 'hugepages')} hugepages of {_size(size)}",
                    source=count.source,
                ),
                Evidence(
                    found=f"mounted: {where}" if where else "no hugetlbfs is mounted",
                    source=memory.mounts.source,
                ),
            ),
            so=f"a DPDK program without --in-memory cannot use {_size(size)} pages and reports "
            "`reserved, but no mounted hugetlbfs found for that size`",
            remedies=(
                Remedy(
                    text="mount hugetlbfs for that size (a line of /etc/fstab keeps it), or start "
                    "programs with --in-memory",
                    commands=(
                        Command(argv=("mkdir", "-p", folder)),
                        Command(
                            argv=(
                                "mount",
                                "-t",
                                "hugetlbfs",
                                "-o",
                                f"pagesize={_size(size)}",
                                "nodev",
                                folder,
                            )
                        ),
                    ),
                    steps=(StepCall.of("hugepage_mount", page_size=_size(size)),),
                ),
            ),
            unpriced="the cost of pages that are not used cannot be measured",
        )


def _size(page_bytes: int) -> str:
    return f"{page_bytes // GIB}G" if page_bytes >= GIB else f"{page_bytes >> 20}M"


RULE = HostRule(
    slug="memory.hugepages_not_mounted",
    title="No hugetlbfs mounted for the hugepage size",
    why="systemd mounts hugetlbfs for the default size only. Pages of another size, often 1 GB, "
    "are unused until a hugetlbfs with that pagesize is mounted: DPDK prints one line about "
    "it at start and continues with the pages that it finds.",
    source="https://doc.dpdk.org/guides/linux_gsg/sys_reqs.html (Use of Hugepages in the Linux "
    "Environment); https://docs.kernel.org/admin-guide/mm/hugetlbpage.html",
    purposes=frozenset({Purpose.DPDK}),
    explains=(Symptom.SWITCH_WITHOUT_DPDK,),
    first=(Symptom.NO_HUGEPAGES,),
    check=_check,
)
