"""A thread of the workload on a core that takes the port's interrupts."""

from collections.abc import Iterator

from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.interrupts import Interrupts
from wirespeed.facts.workload import Thread, Workload
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

BUSY = 0.9
"""Part of the time from which a thread leaves nothing for an interrupt."""


def _check(exam: PortExam) -> Iterator[Finding]:
    named = exam.question.workload
    threads = exam.host[Workload].of_process(named)
    if named is None and isinstance(threads, Absent):
        raise DoesNotApplyError("no known packet-processing thread is running: name the program")
    working = known(threads, "threads of the workload")
    if exam.port.pci_address is None:
        raise DoesNotApplyError("its interrupts are not those of a PCI function")
    found = exam.host[Interrupts].of_queues(exam.port.pci_address)
    counts: dict[int, int] = {}
    for queue in known(found, "interrupts"):
        for cpu, count in known(queue.new_of_cpu, "interrupts during the capture").items():
            counts[cpu] = counts.get(cpu, 0) + count
    shared = [thread for thread in working if counts.get(thread.last_cpu) and _works(thread)]
    if not shared:
        return
    full = [t for t in shared if isinstance(t.cpu_share, Known) and t.cpu_share.value >= BUSY]
    told = full or shared
    cpus = frozenset(thread.last_cpu for thread in told)
    names = sorted({thread.name for thread in told})
    # A thread that polls is full by design. Interrupts go before any other: what it had of its
    # core, they did not want.
    own = bool(full) and not any(t.polls for t in full)
    yield exam.finding(
        Severity.RISK if full and not own else Severity.NOTE,
        (
            Evidence(
                found=f"{len(told)} threads ({', '.join(names[:4])}) on CPUs {cpu_list_text(cpus)}"
                f"{f', {BUSY:.0%} busy or more' if full else ''}",
                source=threads.source,
            ),
            Evidence(
                found=f"{sum(counts[cpu] for cpu in cpus)} interrupts of the port there during "
                "the capture",
                source=found.source,
            ),
        ),
        so="the thread used nearly all of the core: the thread itself is the limit, and the "
        "interrupts took only the rest"
        if own
        else "the thread and the interrupts wait for each other"
        if full
        else "they share a core that had time for both during the capture",
        remedies=(
            Remedy(
                text="move the threads or the interrupts to other cores of the same node: start "
                "the threads with taskset, or set smp_affinity_list of the interrupts",
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        unpriced="it depends on how much CPU time each needs: measure before and after",
    )


def _works(thread: Thread) -> bool:
    return not isinstance(thread.cpu_share, Known) or thread.cpu_share.value > 0


RULE = PortRule(
    slug="interrupts.share_core_with_workload",
    title="Workload shares CPUs with the card's interrupts",
    why="An interrupt and its softirq run before any thread. On a full core, the thread that "
    "receives the frames runs too late, and a polling thread cannot poll meanwhile. On a "
    "core with time to spare, sharing is good for the caches.",
    source="https://docs.kernel.org/networking/scaling.html (RSS IRQ Configuration); "
    "https://fasterdata.es.net/host-tuning/linux/100g-tuning/interrupt-binding/",
    explains=(Symptom.CPU_BEHIND, Symptom.NO_DESCRIPTOR, Symptom.LOW_FIGURE),
    check=_check,
)
