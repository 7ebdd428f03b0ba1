"""A node reclaims its own memory before it takes another's."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule

NAME = "vm.zone_reclaim_mode"


def _check(exam: HostExam) -> Iterator[Finding]:
    nodes = exam.host[Cpus].nodes
    if isinstance(nodes, Absent) or len(known(nodes, "the NUMA nodes")) < 2:
        raise DoesNotApplyError("this host has one NUMA node")
    mode = exam.host[Sysctls].number(NAME)
    if isinstance(mode, Absent):
        raise DoesNotApplyError("this kernel does not reclaim by node")
    value = known(mode, "how a node reclaims memory")
    if not value:
        return
    yield exam.finding(
        Severity.RISK,
        (Evidence(found=f"{NAME} is {value}", source=mode.source),),
        so="when a node fills up, who asks it for a page stops to reclaim some, though others "
        "have free ones",
        remedies=(sysctl_remedy("take free pages of another node first", (NAME, "0")),),
        unpriced="it costs pauses once a node's memory is used up",
    )


RULE = HostRule(
    slug="memory.zone_reclaim",
    title="Zone reclaim mode on",
    why="With zone_reclaim_mode the kernel drops cached pages of a node before it allocates on "
    "another. Under network load every allocation of a buffer pays for that. Mellanox's report "
    "turns it off, and it is off by default.",
    source="https://docs.kernel.org/admin-guide/sysctl/vm.html (zone_reclaim_mode); Mellanox "
    "NIC's Performance Report with DPDK 19.08, other optimizations",
    check=_check,
)
