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
        isolated = known(cpus.isolated, "which CPUs are isolated")
        banned = isolated | (value_or_none(cpus.nohz_full) or frozenset())
    if banned:
        return
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(found="irqbalance runs", source=irqbalance.is_running.source),
            Evidence(
                found="no CPU and no interrupt is kept from it",
                source=irqbalance.arguments.source,
            ),
        ),
        so="any interrupt may come to the core of any thread, every 10 seconds another one",
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
        unpriced="it costs microseconds whenever an interrupt comes: seen in the latency's tail, "
        "and in frames that a polling core loses",
    )


RULE = HostRule(
    slug="interrupts.moved_by_irqbalance",
    title="irqbalance may move the card's interrupts",
    why="irqbalance looks at the load every 10 seconds and moves interrupts between cores, those "
    "placed by hand too. A core that polls for DPDK, or that must answer fast, is then interrupted "
    "now and then. Isolated and adaptive-tick CPUs it leaves alone by itself, unless it was told "
    "of other ones.",
    source="irqbalance(1): https://manpages.ubuntu.com/manpages/xenial/man1/irqbalance.1.html; "
    "Mellanox NIC's Performance Report with DPDK 19.08, other optimizations c) and d)",
    purposes=frozenset({Purpose.DPDK, Purpose.LATENCY}),
    price="at most: descriptors of the longest ring that the driver allows / line rate is the time "
    "that an interrupt may take a polling core away",
    check=_check,
)
