"""A node reclaims its own memory before it takes another's."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.memory import Memory
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule

NAME = "vm.zone_reclaim_mode"
WATERMARK_SHARE = 0.35
"""Of a node's memory. Reclaim begins below the low watermark: vm.min_free_kbytes and at most 30 %
more, the most that vm.watermark_scale_factor takes (admin-guide/sysctl/vm.rst)."""


def _check(exam: HostExam) -> Iterator[Finding]:
    nodes = exam.host[Cpus].nodes
    if isinstance(nodes, Absent) or len(known(nodes, "the NUMA nodes")) < 2:
        raise DoesNotApplyError("this host has one NUMA node")
    mode = exam.host[Sysctls].number(NAME)
    if isinstance(mode, Absent):
        raise DoesNotApplyError("this kernel has no zone reclaim mode")
    value = known(mode, "how a node reclaims memory")
    if not value:
        return
    yield exam.finding(
        Severity.RISK,
        (Evidence(found=f"{NAME} is {value}", source=mode.source),),
        so="when a node is full, an allocation waits while the kernel reclaims pages on that "
        "node, even if other nodes have free pages",
        remedies=(sysctl_remedy("use free pages of other nodes first", (NAME, "0")),),
        bounds=tuple(_nothing_now(exam.host[Memory])),
        unpriced="it costs pauses once a node's memory is full: `numastat -m` shows what is free",
    )


def _nothing_now(memory: Memory) -> Iterator[Bound]:
    """Nothing is reclaimed while each node has more free than any low watermark asks for."""
    shares: dict[int, float] = {}
    for node, total in memory.node_bytes.items():
        free = memory.node_free_bytes[node]
        if not isinstance(total, Known) or not isinstance(free, Known):
            return
        if total.value:
            shares[node] = free.value / total.value
    if not shares or min(shares.values()) <= WATERMARK_SHARE:
        return
    least = min(shares, key=lambda node: shares[node])
    yield Bound.of_share(
        Limit.EXACTLY,
        0,
        f"now: {100 * shares[least]:.0f} % of node {least} are free, the least of all nodes",
        f"0 while free memory of each node > {100 * WATERMARK_SHARE:.0f} % of it",
    )


RULE = HostRule(
    slug="memory.zone_reclaim",
    title="Zone reclaim mode on",
    why="With zone_reclaim_mode on, the kernel drops cached pages of a node before it allocates "
    "on another, which slows down every buffer allocation under network load. It is off by "
    "default, and Mellanox's report turns it off.",
    source="https://docs.kernel.org/admin-guide/sysctl/vm.html (zone_reclaim_mode); Mellanox "
    "NIC's Performance Report with DPDK 19.08, other optimizations",
    price="0 while each node has more than 35 % free: reclaim begins below the low watermark, "
    "which vm.watermark_scale_factor puts at 30 % of the node at most",
    check=_check,
)
