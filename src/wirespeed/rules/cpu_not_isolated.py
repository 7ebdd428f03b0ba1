"""No CPU is kept free for the threads that poll, on the host or on the card's node."""

from collections.abc import Iterator

from wirespeed.ceilings.bounds import absence_bounds
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.kernel_boot import boot_remedy
from wirespeed.facts.link import best_bps
from wirespeed.facts.pci import Pci
from wirespeed.facts.queues import Queues
from wirespeed.facts.tuned import Tuned
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import Known, known, value_or_none
from wirespeed.model.port import Port
from wirespeed.model.question import Purpose
from wirespeed.model.rule import HostExam, HostRule

MANAGED_IRQ = (5, 6)


def _check(exam: HostExam) -> Iterator[Finding]:
    cpus = exam.host[Cpus]
    isolated = known(cpus.isolated, "which CPUs are isolated")
    if exam.host[Tuned].partitions_cpus:
        isolated |= value_or_none(cpus.nohz_full) or frozenset()
    if not isolated:
        near = frozenset[int]().union(*(cpus for _, _, cpus in _near_ports(exam)))
        near = near or frozenset(cpus.by_number)
        yield _finding(exam, exam.host.name, "no CPU is isolated", near, exam.ports)
        return
    for port, node, near in _near_ports(exam):
        if not near & isolated:
            yield _finding(
                exam,
                port.name,
                f"CPUs {cpu_list_text(isolated)} are isolated, none of them on node {node}, where "
                "the card is",
                near,
                (port,),
            )


def _near_ports(exam: HostExam) -> Iterator[tuple[Port, int, frozenset[int]]]:
    """Each port whose NUMA node is known, that node, and its CPUs."""
    functions = exam.host[Pci].functions
    for port in exam.ports:
        function = functions.get(port.pci_address or "")
        if function is None or not isinstance(function.numa_node, Known):
            continue
        near = exam.host[Cpus].of_node(function.numa_node.value)
        if isinstance(near, Known) and near.value:
            yield port, function.numa_node.value, near.value


def _finding(
    exam: HostExam, where: str, found: str, near: frozenset[int], ports: tuple[Port, ...]
) -> Finding:
    # The boot CPU's core stays with the kernel, which keeps its time there.
    boot = exam.host[Cpus].by_number.get(0)
    kept = {0}
    if boot is not None and isinstance(boot.smt_siblings, Known):
        kept |= boot.smt_siblings.value
    chosen = cpu_list_text(_to_isolate(exam, near, kept))
    flags = "managed_irq,domain," if _knows_managed_irq(exam.host[Kernel]) else ""
    return exam.finding(
        Severity.RISK,
        (Evidence(found=found, source=exam.host[Cpus].isolated.source),),
        so="the scheduler may run any other thread on a polling core: while that thread runs, "
        "the core takes no frames from its rings",
        where=where,
        remedies=(
            boot_remedy(
                exam.host[Kernel],
                "keep other threads off the polling cores; fewer than these are enough if fewer "
                "poll",
                "isolation",
                f"isolcpus={flags}{chosen} nohz_full={chosen}",
            ),
        )
        if chosen
        else (),
        bounds=absence_bounds(
            exam.host[Queues].longest_ring(ports),
            best_bps(exam.host, ports),
            exam.question.frame_bytes,
        ),
        unpriced="it costs frames only while another thread runs there",
    )


def _to_isolate(
    exam: HostExam, near: frozenset[int], kept: frozenset[int] | set[int]
) -> frozenset[int]:
    """CPUs of the cores to free. Where the node is the whole host, half of its cores stay."""
    by_number = exam.host[Cpus].by_number
    if not near >= by_number.keys():
        return near - kept
    cores: list[frozenset[int]] = []
    for number in sorted(near - kept):
        siblings = by_number[number].smt_siblings
        core = siblings.value if isinstance(siblings, Known) else frozenset({number})
        if core not in cores:
            cores.append(core)
    # The core of CPU 0 stays as well: of 8 cores, 4 are freed; of 2, the other one.
    freed = cores[-max(1, (len(cores) + 1) // 2) :]
    return (near & frozenset[int]().union(*freed)) - kept


def _knows_managed_irq(kernel: Kernel) -> bool:
    """Linux 5.6 brought the flag; one before drops the whole option for a flag it does not know.

    Without flags, `domain` is meant (admin-guide/kernel-parameters.txt, isolcpus=). A release that
    could not be read is taken for a new one.
    """
    release = kernel.version()
    return not isinstance(release, Known) or release.value >= MANAGED_IRQ


RULE = HostRule(
    slug="cpu.not_isolated",
    title="No isolated CPU for polling threads",
    why="At full load, the rings of a polled port are full within a few tens of microseconds. If "
    "the scheduler gives the polling core to another thread for one time slice, frames are "
    "lost, however fast the core is. The scheduler places no other threads on isolated cores "
    "by itself.",
    source="https://doc.dpdk.org/guides/linux_gsg/enable_func.html (Using Linux Core Isolation to "
    "Reduce Context Switches); Mellanox NIC's Performance Report with DPDK 19.08, boot settings",
    purposes=frozenset({Purpose.DPDK}),
    price="at most: a core may be away for (descriptors of the longest ring that the driver "
    "allows / line rate); frames that arrive after that are lost",
    check=_check,
)
