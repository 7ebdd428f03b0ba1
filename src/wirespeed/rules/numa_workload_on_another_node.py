"""Threads of the workload that run on another NUMA node than the card."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.locality import is_one_socket, node_of_port
from wirespeed.facts.workload import Thread, Workload
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.interrupts_on_another_node import OF_SPLIT, SPLIT

SWITCH = "ovs-vswitchd"
"""Its threads pin themselves, by its own setting."""
WORKS = 0.05
"""Part of the time from which a thread counts as working."""


def _check(exam: PortExam) -> Iterator[Finding]:
    seen = node_of_port(exam.host, exam.port)
    if isinstance(seen, Absent):
        raise DoesNotApplyError(seen.reason)
    node = known(seen, "NUMA node of the card")
    named = exam.question.workload
    threads = exam.host[Workload].of_process(named)
    if named is None and isinstance(threads, Absent):
        raise DoesNotApplyError("no known packet-processing thread is running: name the program")
    working = [thread for thread in known(threads, "threads of the workload") if _works(thread)]
    if not working:
        if named is None:
            raise DoesNotApplyError("the known packet-processing threads were idle")
        raise CannotTellError(f"{named} was idle", threads.source)
    near = known(exam.host[Cpus].of_node(node), f"CPUs of node {node}")
    far = [thread for thread in working if thread.last_cpu not in near]
    if not far:
        return
    is_split = is_one_socket(exam.host, near | {thread.last_cpu for thread in far})
    if is_split:
        severity = Severity.NOTE
    elif named is not None:
        severity = Severity.FAULT
    elif len(far) == len(working) and _has_one_node(exam, node):
        severity = Severity.RISK
    else:
        # They may well be at work for another port.
        severity = Severity.NOTE
    cpus = cpu_list_text({thread.last_cpu for thread in far})
    whose = ", ".join(sorted({thread.process for thread in far})[:4])
    yield exam.finding(
        severity,
        (
            Evidence(
                found=f"the card is on node {node}, with CPUs {cpu_list_text(near)}",
                source=seen.source,
            ),
            Evidence(
                found=f"{len(far)} of {len(working)} working threads ({whose}) run on CPUs {cpus}",
                source=threads.source,
            ),
        ),
        so=SPLIT
        if is_split
        else "each frame that these threads touch crosses the link between the sockets",
        remedies=(
            Remedy(
                text=_remedy(node, {thread.process for thread in far}),
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        unpriced=OF_SPLIT
        if is_split
        else "it depends on the host: TCP at 40 and 100 Gb/s was measured up to 2 times slower",
    )


def _remedy(node: int, processes: set[str]) -> str:
    of_switch = (
        f"let CPUs of node {node} poll: name them in other_config:pmd-cpu-mask of Open vSwitch "
        "(ovs-appctl dpif-netdev/pmd-rxq-show says which thread polls which port)"
    )
    of_program = (
        f"run the program on the card's node: numactl --cpunodebind={node} --membind={node}; for "
        "a guest, place its vCPUs and memory on that node"
    )
    others = {one for one in processes if not one.startswith(SWITCH)}
    texts = [of_switch] if processes - others else []
    return "; ".join(texts + ([of_program] if others else []))


def _works(thread: Thread) -> bool:
    return not isinstance(thread.cpu_share, Known) or thread.cpu_share.value >= WORKS


def _has_one_node(exam: PortExam, node: int) -> bool:
    """Whether every port of the host hangs on this node."""
    nodes = [node_of_port(exam.host, port) for port in exam.ports]
    return all(isinstance(seen, Known) and seen.value == node for seen in nodes)


RULE = PortRule(
    slug="numa.workload_on_another_node",
    title="Workload runs on a remote NUMA node",
    why="The card writes frames into memory through the socket that it is attached to. A thread "
    "on another socket reads each frame over the link between the sockets, which costs time "
    "for every frame and can itself be saturated.",
    source="https://fasterdata.es.net/host-tuning/linux/100g-tuning/interrupt-binding/; "
    "https://doc.dpdk.org/guides/linux_gsg/nic_perf_intel_platform.html",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
