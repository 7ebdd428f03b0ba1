"""Every receive queue's interrupt on the same CPU."""

import re
from collections import Counter
from collections.abc import Iterator

from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.interrupts import AFFINITY, Interrupt, Interrupts
from wirespeed.facts.irqbalance import placed_remedy
from wirespeed.facts.locality import cpus_for_interrupts, local_cpus
from wirespeed.facts.queues import Queues
from wirespeed.facts.steering import Steering
from wirespeed.facts.workload import Workload
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

TRANSMIT_ONLY = re.compile(r"output|(^|[-_.])tx([-_.]?\d|$)", re.I)
SHARED = "-virtqueues"
"""Of virtio with fewer vectors than queues: one for all (vp_request_msix_vectors,
drivers/virtio/virtio_pci_common.c)."""
FORMULA = "1 - 1 / the smaller of queues and CPUs near the card"
ENOUGH = 100
"""Interrupts during the capture from which the landing is told; fewer may be of one flow."""


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    threaded = exam.host[Steering].of(netdev).is_napi_threaded
    if isinstance(threaded, Known) and threaded.value:
        raise DoesNotApplyError(
            "kernel threads poll its queues: the core of those threads "
            "matters, not the interrupts' core"
        )
    if exam.port.pci_address is None:
        raise DoesNotApplyError("its interrupts are not those of a PCI function")
    found = exam.host[Interrupts].of_queues(exam.port.pci_address)
    queues = [i for i in known(found, "interrupts") if not TRANSMIT_ONLY.search(i.name)]
    if len(queues) == 1 and queues[0].name.endswith(SHARED):
        yield from _shared(exam, queues[0], found.source)
        return
    if len(queues) < 2:
        raise DoesNotApplyError("it has one receive queue with an interrupt")
    order = _for_interrupts(exam)
    landed = _landed(queues)
    if sum(landed.values()) >= ENOUGH and _busy(queues) >= 2:
        if len(landed) > 1:
            return
        cpu, severity = next(iter(landed)), Severity.FAULT
        evidence = Evidence(
            found=f"{landed[cpu]} interrupts of {_busy(queues)} queues during the capture, all on "
            f"CPU {cpu}",
            source=found.source,
        )
    else:
        cpus = {cpu for queue in queues for cpu in _programmed(queue)}
        if len(cpus) > 1:
            return
        if not cpus:
            raise CannotTellError("the affinity of its queues' interrupts names no CPU", AFFINITY)
        cpu, severity = next(iter(cpus)), Severity.RISK
        evidence = Evidence(
            found=f"the interrupts of all {len(queues)} receive queues go to CPU {cpu}",
            source=AFFINITY,
        )
    if exam.question.purpose is None and exam.host[Workload].has_dpdk:
        # Where DPDK takes the frames, their interrupts are best kept away from its cores.
        severity = Severity.NOTE
    placed = {q.number: order[turn % len(order)] for turn, q in enumerate(queues)}
    others = cpu_list_text(set(order) - {cpu})
    yield exam.finding(
        severity,
        (evidence,),
        so=f"CPU {cpu} does the receive work of all {len(queues)} queues; the other CPUs near the "
        f"card ({others}) do none of it",
        remedies=(
            placed_remedy(
                exam.host, exam.port.pci_address, "give each queue a CPU near the card", placed
            ),
        ),
        bounds=_bounds(len(queues), len(order)),
    )


def _for_interrupts(exam: PortExam) -> list[int]:
    near = known(local_cpus(exam.host, exam.port), "CPUs near the card")
    order = cpus_for_interrupts(exam.host, near)
    if len(order) < 2:
        raise DoesNotApplyError("one CPU near the card may take interrupts")
    return order


def _bounds(queues: int, cpus: int) -> tuple[Bound, ...]:
    most = min(queues, cpus)
    of = f"of what {most} CPUs process"
    return (Bound.of_share(Limit.AT_MOST, 1 - 1 / most, of, FORMULA),)


def _shared(exam: PortExam, interrupt: Interrupt, source: str) -> Iterator[Finding]:
    channels = known(exam.host[Queues].of(exam.kernel_netdev).combined_channels, "channels")
    if channels < 2:
        raise DoesNotApplyError("it has one receive queue with an interrupt")
    yield exam.finding(
        Severity.RISK,
        (Evidence(found=f"{interrupt.name} serves all {channels} queues", source=source),),
        so="the CPU that takes this one interrupt does the receive work of all queues",
        remedies=(
            Remedy(
                text="give the guest's device a vector for each queue: in QEMU "
                f"vectors={2 * channels + 2}, two for each pair of queues and two more",
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        bounds=_bounds(channels, len(_for_interrupts(exam))),
    )


def _landed(queues: list[Interrupt]) -> Counter[int]:
    """CPU: interrupts during the capture."""
    landed: Counter[int] = Counter()
    for queue in queues:
        if isinstance(queue.new_of_cpu, Known):
            landed.update(queue.new_of_cpu.value)
    return landed


def _busy(queues: list[Interrupt]) -> int:
    return sum(isinstance(q.new_of_cpu, Known) and bool(q.new_of_cpu.value) for q in queues)


def _programmed(queue: Interrupt) -> frozenset[int]:
    """Where it goes. Kernels before 4.13 say only where it may go."""
    effective = queue.effective_affinity
    if isinstance(effective, Absent):
        return known(queue.irq_affinity, f"affinity of interrupt {queue.number}")
    return known(effective, f"affinity of interrupt {queue.number}")


RULE = PortRule(
    slug="interrupts.on_one_core",
    title="Interrupts of all queues on one CPU",
    why="The core that takes a queue's interrupt does the work of driver and network stack for "
    "its frames. Queues whose interrupts all go to one core share that core: eight queues "
    "are then no faster than one.",
    source="https://docs.kernel.org/networking/scaling.html (RSS IRQ Configuration); "
    "https://docs.kernel.org/core-api/irq/irq-affinity.html",
    price=f"at most: {FORMULA}",
    explains=(Symptom.CPU_BEHIND, Symptom.NO_DESCRIPTOR, Symptom.LOW_FIGURE),
    check=_check,
)
