"""The kernel makes hugepages of ordinary memory by itself, for every program."""

from collections.abc import Iterator

from wirespeed.facts.memory import Memory
from wirespeed.model.command import write_file
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule


def _check(exam: HostExam) -> Iterator[Finding]:
    transparent = exam.host[Memory].transparent
    if isinstance(transparent, Absent):
        raise DoesNotApplyError("this kernel has no transparent hugepages")
    if known(transparent, "transparent hugepages") != "always":
        return
    yield exam.finding(
        Severity.NOTE,
        (Evidence(found="transparent hugepages: always", source=transparent.source),),
        so="a thread that touches new memory may wait while the kernel puts 2 MB together",
        remedies=(
            Remedy(
                text="give them to programs that ask for them (until the next boot; "
                "`transparent_hugepage=madvise` on the kernel's command line keeps it)",
                commands=(write_file("/sys/kernel/mm/transparent_hugepage/enabled", "madvise"),),
                steps=(
                    StepCall.of(
                        "kernel_switch",
                        paths=["/sys/kernel/mm/transparent_hugepage/enabled"],
                        value="madvise",
                        reason="Only programs that ask for them wait for hugepages to be made.",
                    ),
                ),
            ),
        ),
        unpriced="it costs single long pauses, and gains throughput for many programs",
    )


RULE = HostRule(
    slug="memory.transparent_hugepages",
    title="Transparent hugepages on for all programs",
    why="With `always`, a page fault may clear, and even gather, 2 MB at once, and khugepaged "
    "moves pages while programs run. That is good for throughput and bad for the longest "
    "latencies. Pages of hugetlbfs, as DPDK's, are not touched.",
    source="https://docs.kernel.org/admin-guide/mm/transhuge.html",
    purposes=frozenset({Purpose.LATENCY}),
    check=_check,
)
