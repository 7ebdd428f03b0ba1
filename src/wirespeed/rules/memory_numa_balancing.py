"""The kernel moves pages between NUMA nodes by itself."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule

NAME = "kernel.numa_balancing"


def _check(exam: HostExam) -> Iterator[Finding]:
    nodes = exam.host[Cpus].nodes
    if isinstance(nodes, Absent) or len(known(nodes, "the NUMA nodes")) < 2:
        raise DoesNotApplyError("this host has one NUMA node")
    balancing = exam.host[Sysctls].number(NAME)
    if isinstance(balancing, Absent):
        raise DoesNotApplyError("this kernel has no automatic NUMA balancing")
    if not known(balancing, "whether pages are moved between nodes") & 1:
        return
    yield exam.finding(
        Severity.NOTE,
        (Evidence(found=f"{NAME} is on", source=balancing.source),),
        so="the kernel causes page faults to see which node each thread uses; a thread that is "
        "pinned to its node gains nothing from this",
        remedies=(sysctl_remedy("turn it off if the workload is pinned", (NAME, "0")),),
        unpriced="a fault takes microseconds; hugetlbfs pages are not affected",
    )


RULE = HostRule(
    slug="memory.numa_balancing",
    title="Automatic NUMA balancing on",
    why="The kernel unmaps pages, sees from the page faults which node uses them, and moves them "
    "there. Each fault and each move pauses a thread, even one that already runs on the "
    "right node.",
    source="https://docs.kernel.org/admin-guide/sysctl/kernel.html (numa_balancing)",
    purposes=frozenset({Purpose.DPDK, Purpose.LATENCY}),
    check=_check,
)
