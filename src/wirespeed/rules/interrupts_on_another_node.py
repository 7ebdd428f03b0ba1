"""Interrupts of a card's queues that land on the cores of another NUMA node."""

from collections.abc import Iterator, Mapping

from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.interrupts import AFFINITY, Interrupt, Interrupts
from wirespeed.facts.irqbalance import placed_remedy
from wirespeed.facts.locality import (
    cpus_for_interrupts,
    is_one_socket,
    local_cpus,
    node_of_port,
)
from wirespeed.facts.steering import Steering
from wirespeed.facts.workload import Workload
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

SPLIT = (
    "the frames of these queues cross from one node to another of the same processor, which the "
    "firmware splits (SNC, NPS): that takes longer, but does not use the link between sockets"
)
OF_SPLIT = (
    "what it costs within a processor is not known: latency shows it first, measure it before and "
    "after"
)
OF_NODES = (
    "it depends on the host (TCP at 40 and 100 Gb/s was measured up to 2 times slower): measure "
    "before and after"
)


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    threaded = exam.host[Steering].of(netdev).is_napi_threaded
    if isinstance(threaded, Known) and threaded.value:
        raise DoesNotApplyError(
            "kernel threads poll its queues: the core of those threads "
            "matters, not the interrupts' core"
        )
    seen = node_of_port(exam.host, exam.port)
    if isinstance(seen, Absent):
        raise DoesNotApplyError(seen.reason)
    node = known(seen, "NUMA node of the card")
    near = known(local_cpus(exam.host, exam.port), f"CPUs of node {node}")
    if not near:
        raise DoesNotApplyError(f"node {node} has memory but no CPU")
    found = exam.host[Interrupts].of_queues(exam.port.pci_address)
    queues = known(found, "interrupts")
    if not queues:
        raise DoesNotApplyError("none of its queues has an interrupt")
    places = {queue.number: _where(queue) for queue in queues}
    far = [queue for queue in queues if not places[queue.number] & near]
    if not far:
        return
    counts = [q.new_of_cpu.value for q in far if isinstance(q.new_of_cpu, Known)]
    measured = sum(sum(of_cpu.values()) for of_cpu in counts)
    may_be_dpdk = exam.question.purpose is None and exam.host[Workload].has_dpdk
    of_far = frozenset[int]().union(*(places[queue.number] for queue in far))
    is_split = is_one_socket(exam.host, near | of_far)
    if len(far) < len(queues) or may_be_dpdk or is_split:
        # Where DPDK takes the frames, their interrupts are best kept away from its cores.
        severity = Severity.NOTE
    else:
        severity = Severity.FAULT if measured else Severity.RISK
    cpus = cpu_list_text(of_far)
    # One that may land on many CPUs takes none of them.
    of_one = [places[queue.number] for queue in queues if len(places[queue.number]) == 1]
    taken = frozenset().union(*of_one)
    free = [cpu for cpu in cpus_for_interrupts(exam.host, near) if cpu not in taken]
    placed = {queue.number: cpu for queue, cpu in zip(far, free, strict=False)}
    yield exam.finding(
        severity,
        (
            Evidence(
                found=f"the card is on node {node}, with CPUs {cpu_list_text(near)}",
                source=seen.source,
            ),
            Evidence(
                found=f"{len(far)} of {len(queues)} interrupts of its queues go to CPUs {cpus}"
                f"{f', {measured} times during the capture' if measured else ''}",
                source=found.source if measured else AFFINITY,
            ),
        ),
        so=SPLIT
        if is_split
        else "the frames of these queues cross the link between the nodes before a CPU reads them",
        remedies=tuple(_remedies(exam, node, placed, len(far), len(queues))),
        unpriced=OF_SPLIT if is_split else OF_NODES,
    )


def _remedies(
    exam: PortExam, node: int, placed: Mapping[int, int], far: int, queues: int
) -> Iterator[Remedy]:
    """Move those that get a CPU of the node to themselves: two queues of one CPU gain nothing."""
    stay = far - len(placed)
    if placed:
        which = "them" if not stay else f"{len(placed)} of them"
        text = f"move {which} to node {node}"
        yield placed_remedy(exam.host, exam.port.pci_address, text, placed)
    if stay:
        yield Remedy(
            text=f"leave {'the other ' if placed else ''}{stay} in place: each CPU of "
            f"node {node} that may serve interrupts then already has a queue. To have no queue "
            f"on another node, set {queues - stay} channels (`ethtool -L {exam.port.name} combined "
            f"{queues - stay}`); fewer channels spread the flows over fewer cores",
            by_hand=ByHand.WORKLOAD,
        )


def _where(queue: Interrupt) -> frozenset[int]:
    """CPUs that it landed on during the capture; else those that it is programmed for.

    A chip that does not say which leaves the effective mask empty, as Xen's of older kernels:
    irq_validate_effective_affinity() of kernel/irq/manage.c.
    """
    if isinstance(queue.new_of_cpu, Known) and queue.new_of_cpu.value:
        return frozenset(queue.new_of_cpu.value)
    effective = queue.effective_affinity
    if isinstance(effective, Absent) or (isinstance(effective, Known) and not effective.value):
        effective = queue.irq_affinity
    return known(effective, f"affinity of interrupt {queue.number}")


RULE = PortRule(
    slug="interrupts.on_another_node",
    title="Interrupts handled on a remote NUMA node",
    why="The core that takes the interrupt reads the descriptors and frames that the card wrote. "
    "On the other socket, each of these reads crosses the link between the sockets. Drivers "
    "that create more queues than their node has cores put the rest on other nodes: that is "
    "only a note.",
    source="https://fasterdata.es.net/host-tuning/linux/100g-tuning/interrupt-binding/; "
    "https://docs.kernel.org/core-api/irq/irq-affinity.html",
    explains=(Symptom.CPU_BEHIND, Symptom.NO_DESCRIPTOR, Symptom.LOW_FIGURE),
    check=_check,
)
