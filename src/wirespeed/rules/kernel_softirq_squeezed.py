"""Softirqs whose budget ended with frames left in the rings."""

from collections.abc import Iterator

from wirespeed.facts.kernel_softnet import Softnet
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom

BUDGET = "net.core.netdev_budget"
TIME = "net.core.netdev_budget_usecs"


def _check(exam: HostExam) -> Iterator[Finding]:
    softnet = exam.host[Softnet].by_cpu
    squeezed = [row for row in known(softnet, "the softirqs' budget") if row.squeezed]
    if not squeezed:
        return
    squeezed.sort(key=lambda row: -row.squeezed)
    evidence = [
        Evidence(
            found=f"CPU {row.cpu}: {row.squeezed} times during the capture", source=softnet.source
        )
        for row in squeezed[:4]
    ]
    settings = []
    for name in (BUDGET, TIME):
        budget = exam.host[Sysctls].number(name)
        if isinstance(budget, Known):
            evidence.append(Evidence.of(budget, f"{name} is {budget.value}"))
            settings.append((name, f"{2 * budget.value}"))
    yield exam.finding(
        Severity.NOTE,
        tuple(evidence),
        so="these CPUs had more frames than one softirq run processes: the rest waited for the "
        "next run",
        remedies=(
            sysctl_remedy(
                "if the rings also drop frames, spread the queues over more CPUs, or raise the "
                "budget (other threads then wait longer)",
                *settings,
            ),
        ),
        unpriced="this alone loses no frames: a ring that overflows meanwhile has a counter of "
        "its own",
    )


RULE = HostRule(
    slug="kernel.softirq_squeezed",
    title="Softirq budget exhausted",
    why="A softirq run processes at most netdev_budget frames, for at most netdev_budget_usecs, "
    "and then lets others run. A rising time_squeeze means that frames were left over: the "
    "CPU is close to its limit.",
    source="https://docs.kernel.org/admin-guide/sysctl/net.html (netdev_budget, "
    "netdev_budget_usecs)",
    shows=(Symptom.CPU_BEHIND,),
    explains=(Symptom.NO_DESCRIPTOR, Symptom.SEGMENTS_RESENT, Symptom.LOW_FIGURE),
    check=_check,
)
