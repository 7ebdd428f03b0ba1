"""The kernel makes hugepages of ordinary memory by itself, for every program."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
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
    # One entry of the page's directory: PMD_SIZE, by the kernel's pages.
    size = "2 MB (512 MB with pages of 64 kB)" if exam.host[Cpus].is_arm else "2 MB"
    yield exam.finding(
        Severity.NOTE,
        (Evidence(found="transparent hugepages: always", source=transparent.source),),
        so=f"a thread that touches new memory may wait while the kernel assembles a page of {size}",
        remedies=(
            Remedy(
                text="give hugepages only to programs that request them (until the next boot; "
                "`transparent_hugepage=madvise` on the kernel's command line makes it "
                "permanent)",
                commands=(write_file("/sys/kernel/mm/transparent_hugepage/enabled", "madvise"),),
                steps=(
                    StepCall.of(
                        "kernel_switch",
                        paths=["/sys/kernel/mm/transparent_hugepage/enabled"],
                        value="madvise",
                        reason="Only programs that request hugepages wait for the kernel to "
                        "assemble them.",
                    ),
                ),
            ),
        ),
        unpriced="it costs occasional long pauses, and improves the throughput of many programs",
    )


RULE = HostRule(
    slug="memory.transparent_hugepages",
    title="Transparent hugepages on for all programs",
    why="With `always`, one page fault may clear or even compact 2 MB, and khugepaged moves "
    "pages while programs run. That improves throughput and worsens the highest latencies. "
    "hugetlbfs pages, such as DPDK's, are not affected.",
    source="https://docs.kernel.org/admin-guide/mm/transhuge.html",
    purposes=frozenset({Purpose.LATENCY}),
    check=_check,
)
