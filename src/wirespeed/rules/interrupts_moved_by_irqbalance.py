"""irqbalance that may put an interrupt on any core, where one interrupt matters."""

from collections.abc import Iterator

from wirespeed.ceilings.bounds import absence_bounds
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.irqbalance import STOPPED, Irqbalance
from wirespeed.facts.link import best_bps
from wirespeed.facts.queues import Queues
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import known, value_or_none
from wirespeed.model.question import Purpose
from wirespeed.model.rule import HostExam, HostRule


def _check(exam: HostExam) -> Iterator[Finding]:
    irqbalance = exam.host[Irqbalance]
    if not known(irqbalance.is_running, "whether irqbalance runs"):
        return
    if known(irqbalance.has_policy, "the options of irqbalance"):
        return
    banned = value_or_none(irqbalance.banned_cpus)
    if banned is None:
        cpus = exam.host[Cpus]
        isolated = known(cpus.isolated_at_boot, "which CPUs are isolated")
        banned = isolated | (value_or_none(cpus.nohz_full) or frozenset())
    if banned:
        return
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(found="irqbalance runs", source=irqbalance.is_running.source),
            Evidence(
                found="no CPU and no interrupt is excluded from irqbalance",
                source=irqbalance.arguments.source,
            ),
        ),
        so="irqbalance may move any interrupt to any core, every 10 seconds",
        remedies=(
            Remedy(
                text="stop it and place the interrupts by hand, or name the CPUs to leave alone "
                "in IRQBALANCE_BANNED_CPULIST",
                commands=STOPPED,
                steps=(StepCall.of("irqbalance", is_running=False),),
            ),
        ),
        bounds=absence_bounds(
            exam.host[Queues].longest_ring(exam.ports),
            best_bps(exam.host, exam.ports),
            exam.question.frame_bytes,
        ),
        unpriced="each interrupt costs microseconds: it shows in the highest latencies, and in "
        "frames that a polling core loses",
    )


RULE = HostRule(
    slug="interrupts.moved_by_irqbalance",
    title="irqbalance may move the card's interrupts",
    why="irqbalance checks the load every 10 seconds and moves interrupts between cores, "
    "including those placed by hand. It then interrupts cores that poll for DPDK or that "
    "must answer fast. By default it leaves isolated and nohz_full CPUs alone; "
    "IRQBALANCE_BANNED_CPULIST replaces that default.",
    source="irqbalance(1): https://manpages.ubuntu.com/manpages/xenial/man1/irqbalance.1.html; "
    "Mellanox NIC's Performance Report with DPDK 19.08, other optimizations c) and d)",
    purposes=frozenset({Purpose.DPDK, Purpose.LATENCY}),
    price="at most: an interrupt may take a polling core away for (descriptors of the longest "
    "ring that the driver allows / line rate)",
    check=_check,
)
